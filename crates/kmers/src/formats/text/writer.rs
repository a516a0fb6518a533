//! Writes tables as sorted text: `KMER<TAB>COUNT` lines, and the two formats of Jellyfish.

use std::io::Write;
use std::time::Duration;

use merganser_io::{Output, put_decimal};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::formats::{Encoder, Sink};

/// The format of a k-mer with its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `KMER<TAB>COUNT`.
    Tsv,
    /// `>COUNT`, then `KMER` on its own line, like `jellyfish dump`.
    Fasta,
    /// `KMER COUNT`, like `jellyfish dump -c`.
    Jellyfish,
}

/// Encodes k-mers of length `k` as lines.
pub(crate) struct TextFormat {
    pub(crate) k: usize,
    pub(crate) style: Style,
}

impl<K: Kmer> Encoder<K> for TextFormat {
    type Encoded = Vec<u8>;

    fn encode(&self, kmers: &[(K, u32)]) -> Vec<u8> {
        let mut text = Vec::with_capacity(kmers.len() * (self.k + 4));
        for &(kmer, count) in kmers {
            match self.style {
                Style::Tsv => write_columns(kmer, self.k, b'\t', count, &mut text),
                Style::Jellyfish => write_columns(kmer, self.k, b' ', count, &mut text),
                Style::Fasta => write_fasta(kmer, self.k, count, &mut text),
            }
        }
        text
    }
}

fn write_columns<K: Kmer>(kmer: K, k: usize, between: u8, count: u32, out: &mut Vec<u8>) {
    kmer.write_letters(k, out);
    out.push(between);
    put_decimal(u64::from(count), out);
    out.push(b'\n');
}

fn write_fasta<K: Kmer>(kmer: K, k: usize, count: u32, out: &mut Vec<u8>) {
    out.push(b'>');
    put_decimal(u64::from(count), out);
    out.push(b'\n');
    kmer.write_letters(k, out);
    out.push(b'\n');
}

impl Sink<Vec<u8>> for Output {
    fn write(&mut self, part: Vec<u8>) -> Result<(), Error> {
        Ok(self.write_all(&part)?)
    }

    fn finish(self) -> Result<Duration, Error> {
        Ok(Output::finish(self)?)
    }
}
