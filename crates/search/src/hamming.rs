//! The kernel for substitutions: the number of mismatches of one pattern at each position of all lanes of a tile, as a
//! counter of one vector per binary digit.

use merganser_seq::dispatch;
use merganser_seq::lanes::{Bits, each};
use merganser_seq::simd::Level;

use crate::edits::LaneEnd;
use crate::tile::Tile;

/// The maximum number of digits: the counts of 128 letters, and a sign.
const MAX_DIGITS: usize = 9;

/// The number of rows whose mismatches are summed before they are added to the counter: a number of three digits.
const ROWS: usize = 7;

/// Appends the ends of all positions of a pattern (sets of bases) with at most `e` mismatches, in the order of columns,
/// then lanes. Columns past the end of a lane's stretch are included.
pub(crate) fn scan(level: Level, tile: &Tile, pattern: &[u8], e: usize, ends: &mut Vec<LaneEnd>) {
    let sets: Vec<&[Bits]> = pattern.iter().map(|&bases| tile.set(bases)).collect();
    let count = (usize::BITS - pattern.len().max(e + 1).leading_zeros() + 1) as usize;
    let Some(starts) = (tile.columns() + 1).checked_sub(pattern.len()) else { return };
    // Two's complement of -e - 1: a sum is negative where there are at most e mismatches.
    let digit = |at: usize| Bits([if !e >> at & 1 == 1 { u64::MAX } else { 0 }; 8]);
    let least: [Bits; MAX_DIGITS] = std::array::from_fn(digit);
    for first in 0..starts {
        let mut digits = least;
        if !sum(level, &sets, first, &mut digits[..count]) {
            continue;
        }
        for lane in digits[count - 1].iter() {
            let digit = |at: usize| usize::from(digits[at].has(lane)) << at;
            let value = (0..count - 1).map(digit).sum::<usize>();
            let edits = (value + e + 1 - (1 << (count - 1))) as u16;
            let column = (first + pattern.len() - 1) as u32;
            ends.push(LaneEnd { lane: lane as u16, edits, column });
        }
    }
}

dispatch! {
    /// Adds the numbers of mismatches at the positions that begin at column `first` to a number; returns whether any sum
    /// is negative.
    fn sum(sets: &[&[Bits]], first: usize, digits: &mut [Bits]) -> bool = sum_body
}

#[inline(always)]
fn sum_body(sets: &[&[Bits]], first: usize, digits: &mut [Bits]) -> bool {
    for (chunk, sets) in sets.chunks(ROWS).enumerate() {
        let row = |at: usize| match sets.get(at) {
            Some(set) => each(|g| !set[first + ROWS * chunk + at][g]),
            None => Bits::NONE,
        };
        let (one, two) = add3(row(0), row(1), row(2));
        let (one, more) = add3(one, row(3), row(4));
        let (one, most) = add3(one, row(5), row(6));
        let (two, four) = add3(two, more, most);
        add(digits, [one, two, four]);
    }
    digits.last().is_some_and(Bits::any)
}

/// Returns the sum of three bits: its low and its high digit.
#[inline(always)]
fn add3(a: Bits, b: Bits, c: Bits) -> (Bits, Bits) {
    (each(|g| a[g] ^ b[g] ^ c[g]), each(|g| (a[g] & (b[g] | c[g])) | (b[g] & c[g])))
}

/// Adds a number of three digits.
#[inline(always)]
fn add(digits: &mut [Bits], number: [Bits; 3]) {
    let mut carry = Bits::NONE;
    for (at, digit) in digits.iter_mut().enumerate() {
        let more = number.get(at).copied().unwrap_or(Bits::NONE);
        (*digit, carry) = add3(*digit, carry, more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters::{bases, text_bases};
    use crate::tile::Stretch;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_are_those_of_the_definition(seed: u64, length in 1usize..129, e in 0usize..60) {
            let mut random = Random(seed);
            let e = e.min(length - 1);
            let texts: Vec<Vec<u8>> = (0..9)
                .map(|_| {
                    let letters = random.below(200);
                    let text = random.bases(letters);
                    random.mutated(&text, 20)
                })
                .collect();
            let pattern: Vec<u8> =
                (0..length).map(|_| bases(b"ACGTRYSWKMBDHVN"[random.below(15)])).collect();
            let mut expected = Vec::new();
            for (lane, text) in texts.iter().enumerate() {
                let text: Vec<u8> = text.iter().map(|&letter| text_bases(letter, false)).collect();
                expected.extend(crate::naive::substitutions(&pattern, &text, e).into_iter().map(|(end, edits)| {
                    LaneEnd { lane: lane as u16, edits: edits as u16, column: end as u32 - 1 }
                }));
            }
            for level in Level::available() {
                let mut tile = Tile::default();
                let stretches: Vec<_> =
                    texts.iter().map(|letters| Stretch { letters, begins: true }).collect();
                tile.load(level, &stretches, u16::MAX, false);
                let mut ends = Vec::new();
                scan(level, &tile, &pattern, e, &mut ends);
                ends.retain(|end| {
                    texts.get(usize::from(end.lane)).is_some_and(|text| (end.column as usize) < text.len())
                });
                ends.sort_unstable_by_key(|end| (end.lane, end.column));
                prop_assert_eq!(&ends, &expected);
            }
        }
    }
}
