//! Single records.

use std::ops::Range;

/// A record as it is in its file, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The header up to the first blank.
    pub name: &'a [u8],
    /// The name, and the rest of the header if it is kept.
    pub header: &'a [u8],
    /// The sequence, without line ends.
    pub letters: &'a [u8],
    /// The qualities as letters (Phred+33); `None` in FASTA, or if they are not kept.
    pub quality: Option<&'a [u8]>,
}

impl Record<'_> {
    /// Appends the record as text with its `header`: as FASTQ if it has qualities, otherwise as FASTA with the sequence
    /// in one line.
    /// Returns the range of its letters in the text.
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

/// The parts of each record that are kept in addition to its letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The part of the header that is kept.
    pub header: Header,
    /// Whether qualities are kept.
    pub qualities: bool,
}

/// The part of a header that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// No part: the names of mates are not compared.
    Nothing,
    /// The name, up to the first blank.
    #[default]
    Name,
    /// The whole header.
    Whole,
}
