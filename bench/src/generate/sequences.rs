//! A genome in memory: named sequences, one byte per base.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// Named sequences, stored consecutively.
#[derive(Debug)]
pub(crate) struct Sequences {
    bases: Vec<u8>,
    /// The name and the end of each sequence, which begins at the end of the previous one.
    ends: Vec<(String, usize)>,
}

/// Returns the complementary base; letters other than A, C, G and T become N.
pub(crate) fn complement(base: u8) -> u8 {
    match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        _ => b'N',
    }
}

impl Sequences {
    /// Creates a single sequence.
    pub(crate) fn single(name: &str, bases: Vec<u8>) -> Self {
        Self { ends: vec![(name.to_owned(), bases.len())], bases }
    }

    /// Reads a FASTA file. Letters are converted to upper case, and to N if they are not A, C, G or T.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not FASTA, or has no bases.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let sequences = Self::parse(BufReader::with_capacity(1 << 20, file))
            .with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(!sequences.bases.is_empty(), "no sequence in {}", path.display());
        Ok(sequences)
    }

    fn parse(mut input: impl BufRead) -> Result<Self> {
        let mut sequences = Self { bases: Vec::new(), ends: Vec::new() };
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            let text = line.trim_ascii_end();
            if let Some(header) = text.strip_prefix(b">") {
                let name = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
                let name = String::from_utf8_lossy(name).into_owned();
                sequences.ends.push((name, sequences.bases.len()));
            } else if !text.is_empty() {
                let last = sequences.ends.last_mut().context("not FASTA: no '>' at the start")?;
                sequences.bases.extend(text.iter().map(|&letter| normal(letter)));
                last.1 = sequences.bases.len();
            }
            line.clear();
        }
        Ok(sequences)
    }

    /// Returns the bases of all sequences, in order.
    pub(crate) fn bases(&self) -> &[u8] {
        &self.bases
    }

    /// Returns the name and the range of the sequence that contains the base at `position`.
    pub(crate) fn at(&self, position: usize) -> (&str, Range<usize>) {
        let index = self.ends.partition_point(|(_, end)| *end <= position);
        let start = if index == 0 { 0 } else { self.ends[index - 1].1 };
        let (name, end) = &self.ends[index];
        (name, start..*end)
    }
}

fn normal(letter: u8) -> u8 {
    match letter.to_ascii_uppercase() {
        base @ (b'A' | b'C' | b'G' | b'T') => base,
        b'U' => b'T',
        _ => b'N',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fasta_is_read_and_positions_are_found() {
        let text = b">a first\nACgt\r\nRu\n>empty\n\n>b\nTT";
        let sequences = Sequences::parse(&text[..]).unwrap();
        assert_eq!(sequences.bases(), b"ACGTNTTT");
        assert_eq!(sequences.at(0), ("a", 0..6));
        assert_eq!(sequences.at(5), ("a", 0..6));
        assert_eq!(sequences.at(6), ("b", 6..8));
        assert!(Sequences::parse(&b"ACGT\n"[..]).is_err());
    }
}
