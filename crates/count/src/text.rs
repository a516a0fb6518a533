//! Tables as text: `KMER<TAB>COUNT` lines, sorted.

use std::io::Write;
use std::time::Duration;

use merganser_io::Output;
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::emit::{Encoder, Sink};

/// Encodes k-mers of `k` bases as lines.
pub(crate) struct TsvFormat {
    pub(crate) k: usize,
}

impl<K: Kmer> Encoder<K> for TsvFormat {
    type Part = Vec<u8>;

    fn encode(&self, kmers: &[(K, u32)]) -> Vec<u8> {
        let mut text = Vec::with_capacity(kmers.len() * (self.k + 4));
        for &(kmer, count) in kmers {
            write_tsv(kmer, self.k, count, &mut text);
        }
        text
    }
}

/// Appends one line.
pub fn write_tsv<K: Kmer>(kmer: K, k: usize, count: u32, out: &mut Vec<u8>) {
    kmer.write_letters(k, out);
    out.push(b'\t');
    write_number(count, out);
    out.push(b'\n');
}

/// Appends a number in decimal.
pub fn write_number(number: u32, out: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

impl Sink<Vec<u8>> for Output {
    fn write(&mut self, part: Vec<u8>) -> Result<(), Error> {
        Ok(self.write_all(&part)?)
    }

    fn finish(self) -> Result<Duration, Error> {
        Ok(Output::finish(self)?)
    }
}
