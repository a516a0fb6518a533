//! Tables as text, sorted: `KMER<TAB>COUNT` lines, and Jellyfish's two forms.

use std::io::Write;
use std::time::Duration;

use merganser_io::{Output, put_decimal};
use merganser_seq::base::LETTERS;
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::emit::{Encoder, Sink};

/// How a k-mer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `KMER<TAB>COUNT`.
    Tsv,
    /// `>COUNT`, then `KMER` on its own line, as `jellyfish dump`.
    Fasta,
    /// `KMER COUNT`, as `jellyfish dump -c`.
    Jellyfish,
}

/// Encodes k-mers of `k` bases as lines.
pub(crate) struct TextFormat {
    pub(crate) k: usize,
    pub(crate) style: Style,
}

impl<K: Kmer> Encoder<K> for TextFormat {
    type Part = Vec<u8>;

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

/// The letters of four bases in a byte, first base in the top bits.
static FOURS: [[u8; 4]; 256] = {
    let mut fours = [[0; 4]; 256];
    let mut place = 0;
    while place < 4 * 256 {
        let (byte, base) = (place / 4, place % 4);
        fours[byte][base] = LETTERS[byte >> (6 - 2 * base) & 3];
        place += 1;
    }
    fours
};

/// Appends the letters of a k-mer of `k` bases, four at a time.
fn write_letters<K: Kmer>(kmer: K, k: usize, out: &mut Vec<u8>) {
    let (at, odd) = (out.len(), k % 4);
    out.resize(at + k, 0);
    let (first, fours) = out[at..].split_at_mut(odd);
    for (base, letter) in first.iter_mut().enumerate() {
        *letter = LETTERS[usize::from(kmer.base(base, k))];
    }
    let mut left = 2 * (k - odd) as u32;
    for four in fours.as_chunks_mut::<4>().0 {
        left -= 8;
        *four = FOURS[(kmer.shr(left).low() & 0xff) as usize];
    }
}

fn write_columns<K: Kmer>(kmer: K, k: usize, between: u8, count: u32, out: &mut Vec<u8>) {
    write_letters(kmer, k, out);
    out.push(between);
    put_decimal(u64::from(count), out);
    out.push(b'\n');
}

fn write_fasta<K: Kmer>(kmer: K, k: usize, count: u32, out: &mut Vec<u8>) {
    out.push(b'>');
    put_decimal(u64::from(count), out);
    out.push(b'\n');
    write_letters(kmer, k, out);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_kmer() {
        for k in 1..=64 {
            let kmer = u128::mask(k) & 0x2437_54a3_243f_6a89_9e37_79b9_7f4a_7c15;
            let (mut found, mut expected) = (b"x".to_vec(), b"x".to_vec());
            write_letters(kmer, k, &mut found);
            kmer.write_letters(k, &mut expected);
            assert_eq!(found, expected);
        }
    }
}
