//! CIGAR operations.

/// A CIGAR operation, with its number in BAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Aligned bases, whether they match or not.
    Aligned = 0,
    /// Bases that only the read has.
    Insertion = 1,
    /// Bases that only the reference has.
    Deletion = 2,
    /// Bases of the read that are not part of the alignment.
    Clip = 4,
    /// Aligned bases that are equal.
    Match = 7,
    /// Aligned bases that differ.
    Mismatch = 8,
}

impl Operation {
    /// Returns the letter of the operation in SAM: M, I, D, S, = or X.
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

    /// Returns the number of read bases that an operation of length `len` consumes.
    pub fn in_read(self, len: u32) -> u32 {
        if self == Operation::Deletion { 0 } else { len }
    }

    /// Returns the number of reference bases that an operation of length `len` consumes.
    pub fn in_reference(self, len: u32) -> u32 {
        if matches!(self, Operation::Insertion | Operation::Clip) { 0 } else { len }
    }
}
