//! One record.

use std::ops::Range;

/// A record as its file has it, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The header up to the first blank.
    pub name: &'a [u8],
    /// The name, and the rest of the header if it is kept.
    pub header: &'a [u8],
    /// The sequence, without line ends.
    pub letters: &'a [u8],
    /// `None` in FASTA, or if qualities are not kept.
    pub quality: Option<&'a [u8]>,
}

impl Record<'_> {
    /// Appends it as text, FASTQ if it has qualities, else FASTA with the sequence in one line.
    /// Returns where the letters are.
    pub fn write(&self, text: &mut Vec<u8>) -> Range<usize> {
        text.push(if self.quality.is_some() { b'@' } else { b'>' });
        text.extend_from_slice(self.header);
        text.push(b'\n');
        let start = text.len();
        text.extend_from_slice(self.letters);
        let end = text.len();
        text.push(b'\n');
        if let Some(quality) = self.quality {
            text.extend_from_slice(b"+\n");
            text.extend_from_slice(quality);
            text.push(b'\n');
        }
        start..end
    }
}

/// What is kept of each record besides its letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// How much of the header.
    pub header: Header,
    /// Qualities.
    pub qualities: bool,
}

/// How much is kept of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Nothing: the names of mates are not compared.
    Nothing,
    /// The name, up to the first blank.
    #[default]
    Name,
    /// All of it.
    Whole,
}
