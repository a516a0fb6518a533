//! The operations of a CIGAR.

/// The kind of a stretch of an alignment, as BAM numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Match or mismatch, where these are not told apart.
    Aligned = 0,
    /// Bases of the read alone.
    Insertion = 1,
    /// Bases of the reference alone.
    Deletion = 2,
    /// Bases of the read that are left out of the alignment.
    Clip = 4,
    /// Bases that are the same.
    Match = 7,
    /// Bases that differ.
    Mismatch = 8,
}

impl Operation {
    /// The letter that SAM has for it: M, I, D, S, = or X.
    pub fn letter(self) -> char {
        match self {
            Operation::Aligned => 'M',
            Operation::Insertion => 'I',
            Operation::Deletion => 'D',
            Operation::Clip => 'S',
            Operation::Match => '=',
            Operation::Mismatch => 'X',
        }
    }

    /// Returns how many bases of the read so many of it are.
    pub fn in_read(self, len: u32) -> u32 {
        if self == Operation::Deletion { 0 } else { len }
    }

    /// Returns how many bases of the reference so many of it are.
    pub fn in_reference(self, len: u32) -> u32 {
        if matches!(self, Operation::Insertion | Operation::Clip) { 0 } else { len }
    }
}
