//! Scores of 512 pairs that rise and fall, stored as bit slices (one bit of every pair in a word), and their
//! minima.

use merganser_seq::lanes::{Bits, each};

use super::NONE;

/// Scores, and their minima so far.
#[derive(Debug, Default)]
pub(super) struct Least {
    /// The bits of the scores, lowest first. Scores are never negative.
    scores: Vec<Bits>,
    /// The bits of the minima: as many as the largest relevant score needs.
    least: Vec<Bits>,
}

/// Returns the number of bits of a number.
fn bits(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()) as usize
}

impl Least {
    /// Sets all scores to 0. They may rise to `highest`; minima above `most` are irrelevant.
    pub(super) fn start(&mut self, highest: usize, most: usize) {
        for (counts, number) in [(&mut self.scores, highest), (&mut self.least, most + 1)] {
            counts.clear();
            counts.resize(bits(number), NONE);
        }
    }

    /// Sets the scores and the minima of pairs whose scores are 0 so far.
    pub(super) fn set(&mut self, pairs: &Bits, score: usize, least: usize) {
        for (counts, number) in [(&mut self.scores, score), (&mut self.least, least)] {
            for (bit, counts) in counts.iter_mut().enumerate() {
                if number >> bit & 1 == 1 {
                    *counts = each(|g| counts[g] | pairs[g]);
                }
            }
        }
    }

    /// Adds 1 to the scores of some pairs, and subtracts 1 from those of others.
    #[inline(always)]
    pub(super) fn step(&mut self, more: Bits, less: Bits) {
        // In two's complement, all bits of -1 are set.
        let (mut addend, mut carry) = (each(|g| more[g] | less[g]), NONE);
        for score in &mut self.scores {
            let (a, b, c) = (*score, addend, carry);
            *score = each(|g| a[g] ^ b[g] ^ c[g]);
            carry = each(|g| a[g] & b[g] | c[g] & (a[g] | b[g]));
            addend = less;
        }
    }

    /// Updates the minima of these pairs with their current scores.
    #[inline(always)]
    pub(super) fn keep(&mut self, pairs: Bits) {
        let (scores, high) = self.scores.split_at(self.least.len().min(self.scores.len()));
        let mut smaller = NONE;
        for (score, least) in scores.iter().zip(&self.least) {
            smaller = each(|g| {
                let differ = score[g] ^ least[g];
                least[g] & differ | smaller[g] & !differ
            });
        }
        let mut taken = each(|g| pairs[g] & smaller[g]);
        for score in high {
            taken = each(|g| taken[g] & !score[g]);
        }
        for (score, least) in scores.iter().zip(&mut self.least) {
            *least = each(|g| taken[g] & score[g] | !taken[g] & least[g]);
        }
    }

    /// Returns the minimum of a pair.
    pub(super) fn get(&self, lane: usize) -> usize {
        let bit = |bits: &Bits| (bits[lane / 64] >> (lane % 64) & 1) as usize;
        self.least.iter().rev().fold(0, |score, bits| score << 1 | bit(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_are_those_of_each_pair(
            steps in proptest::collection::vec((0usize..300, -1i8..2, any::<bool>()), 0..600),
            start in 0usize..9,
        ) {
            // Each step changes a single pair; the others stay unchanged.
            let mut least = Least::default();
            least.start(start + 600, start + 3);
            least.set(&each(|_| u64::MAX), start, start + 1);
            let mut expected = [(start, start + 1); 300];
            for (lane, step, kept) in steps {
                let of = |yes: bool| {
                    let mut pairs = NONE;
                    pairs[lane / 64] = u64::from(yes) << (lane % 64);
                    pairs
                };
                let (score, smallest) = &mut expected[lane];
                let step = if *score == 0 { step.max(0) } else { step };
                least.step(of(step == 1), of(step == -1));
                least.keep(of(kept));
                *score = score.saturating_add_signed(step.into());
                *smallest = if kept { *score.min(smallest) } else { *smallest };
            }
            for (lane, &(_, smallest)) in expected.iter().enumerate() {
                prop_assert_eq!(least.get(lane), smallest);
            }
        }
    }
}
