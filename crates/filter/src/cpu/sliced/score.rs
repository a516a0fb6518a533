//! Numbers of 512 pairs, a bit of all in a word: they only grow, and stop where they are too large.

use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use super::{Bits, COLUMNS, NONE, each};

/// Counts up to a threshold.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// The bits of the counts, lowest first.
    bits: Vec<Bits>,
    /// Counts that were too large for the bits.
    beyond: Bits,
}

/// Bits that a block of columns is counted into.
const LOW: usize = COLUMNS.ilog2() as usize;

impl Score {
    /// Sets all to 0, to count up to `most` at least.
    pub(super) fn start(&mut self, most: usize) {
        let bits = (usize::BITS - most.leading_zeros()) as usize;
        self.bits.clear();
        self.bits.resize(bits.max(LOW), NONE);
        self.beyond = NONE;
    }

    /// Sets the count of a pair, which is 0 so far.
    pub(super) fn set(&mut self, lane: usize, score: usize) {
        for (bit, counts) in self.bits.iter_mut().enumerate() {
            counts[lane / 64] |= (score as u64 >> bit & 1) << (lane % 64);
        }
    }

    /// Adds what some columns count.
    pub(super) fn add(&mut self, level: Level, columns: &[Bits; COLUMNS]) {
        add(level, columns, &mut self.bits, &mut self.beyond);
    }

    /// Whether the counts of all these pairs are too large.
    pub(super) fn all_beyond(&self, pairs: &Bits) -> bool {
        pairs.0.iter().zip(&self.beyond.0).all(|(pairs, beyond)| pairs & !beyond == 0)
    }

    /// The count of a pair, if it is not too large.
    pub(super) fn get(&self, lane: usize) -> Option<usize> {
        let bit = |bits: &Bits| (bits[lane / 64] >> (lane % 64) & 1) as usize;
        if bit(&self.beyond) == 1 {
            return None;
        }
        Some(self.bits.iter().rev().fold(0, |score, bits| score << 1 | bit(bits)))
    }
}

dispatch! {
    fn add(columns: &[Bits; COLUMNS], bits: &mut [Bits], beyond: &mut Bits) = add_body
}

/// Full adders in a tree: of eight columns, four carry into the second bit, two into the third, and
/// one into the fourth.
#[inline(always)]
fn add_body(columns: &[Bits; COLUMNS], bits: &mut [Bits], beyond: &mut Bits) {
    let (low, high) = bits.split_at_mut(LOW);
    let mut carries = *columns;
    let mut count = COLUMNS;
    for bit in low {
        for i in 0..count / 2 {
            let (a, b, c) = (*bit, carries[2 * i], carries[2 * i + 1]);
            *bit = each(|g| a[g] ^ b[g] ^ c[g]);
            carries[i] = each(|g| a[g] & b[g] | c[g] & (a[g] | b[g]));
        }
        count /= 2;
    }
    let mut carry = carries[0];
    for bit in high {
        let a = *bit;
        *bit = each(|g| a[g] ^ carry[g]);
        carry = each(|g| a[g] & carry[g]);
    }
    *beyond = each(|g| beyond[g] | carry[g]);
}
