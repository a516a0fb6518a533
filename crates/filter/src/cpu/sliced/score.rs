//! Scores of 512 pairs that only rise, stored as bit slices (one bit of every pair in a word), and saturate.

use merganser_seq::dispatch;
use merganser_seq::lanes::{Bits, each};
use merganser_seq::simd::Level;

use super::{COLUMNS, NONE};

/// Scores up to a threshold.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// The bits of the scores, lowest first.
    bits: Vec<Bits>,
    /// Pairs whose scores have exceeded the bits.
    beyond: Bits,
}

/// The number of bits that hold the counts of a block of columns.
const LOW: usize = COLUMNS.ilog2() as usize;

impl Score {
    /// Sets all scores to 0, with enough bits for `most`.
    pub(super) fn start(&mut self, most: usize) {
        let bits = (usize::BITS - most.leading_zeros()) as usize;
        self.bits.clear();
        self.bits.resize(bits.max(LOW), NONE);
        self.beyond = NONE;
    }

    /// Sets the score of a pair, which must be 0.
    pub(super) fn set(&mut self, lane: usize, score: usize) {
        for (bit, counts) in self.bits.iter_mut().enumerate() {
            counts[lane / 64] |= (score as u64 >> bit & 1) << (lane % 64);
        }
    }

    /// Adds the increments of some columns.
    pub(super) fn add(&mut self, level: Level, columns: &[Bits; COLUMNS]) {
        add(level, columns, &mut self.bits, &mut self.beyond);
    }

    /// Whether the scores of all these pairs have exceeded the bits.
    pub(super) fn all_beyond(&self, pairs: &Bits) -> bool {
        pairs.0.iter().zip(&self.beyond.0).all(|(pairs, beyond)| pairs & !beyond == 0)
    }

    /// Returns the score of a pair unless it has exceeded the bits.
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

/// Adds with a tree of full adders: of eight columns, four carries go into the second bit, two into the third,
/// and one into the fourth.
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
