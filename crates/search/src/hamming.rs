//! The kernel for substitutions: the number of mismatches of one pattern at each position of all lanes of a tile, as a
//! counter of one vector per binary digit.

use merganser_seq::dispatch;
use merganser_seq::lanes::{Bits, each};
use merganser_seq::simd::Level;

use crate::edits::LaneEnd;
use crate::tile::{BLOCK, Tile};

/// The maximum number of digits: the counts of 128 letters, and a sign.
const MAX_DIGITS: usize = 9;

/// Appends the ends of all positions of a pattern (sets of bases) with at most `e` mismatches, in the order of
/// columns, then lanes. Columns past the end of a lane's stretch are included.
pub(crate) fn scan(level: Level, tile: &Tile, pattern: &[u8], e: usize, ends: &mut Vec<LaneEnd>) {
    let sets: Vec<&[Bits]> = pattern.iter().map(|&bases| tile.set(bases)).collect();
    let digits = (usize::BITS - pattern.len().max(e + 1).leading_zeros() + 1) as usize;
    let Some(starts) = (tile.columns() + 1).checked_sub(pattern.len()) else { return };
    for first in (0..starts).step_by(BLOCK) {
        let mut counters = [[Bits::NONE; BLOCK]; MAX_DIGITS];
        count(level, &sets, first, &mut counters[..digits], e);
        let columns = BLOCK.min(starts - first);
        for (column, is_good) in counters[digits - 1].iter().enumerate().take(columns) {
            for lane in is_good.iter() {
                // Two's complement, less e + 1: negative.
                let digit = |at: usize| usize::from(counters[at][column].has(lane)) << at;
                let value = (0..digits - 1).map(digit).sum::<usize>();
                let edits = (value + e + 1 - (1 << (digits - 1))) as u16;
                let column = (first + column + pattern.len() - 1) as u32;
                ends.push(LaneEnd { lane: lane as u16, edits, column });
            }
        }
    }
}

dispatch! {
    /// Sets counters to the numbers of mismatches of the positions that begin at column `first` and after it, less e + 1.
    fn count(sets: &[&[Bits]], first: usize, counters: &mut [[Bits; BLOCK]], e: usize) = count_body
}

#[inline(always)]
fn count_body(sets: &[&[Bits]], first: usize, counters: &mut [[Bits; BLOCK]], e: usize) {
    for (at, digit) in counters.iter_mut().enumerate() {
        let is_set = (-(e as i64) - 1) >> at & 1 == 1;
        *digit = [Bits([if is_set { u64::MAX } else { 0 }; 8]); BLOCK];
    }
    for (row, set) in sets.iter().enumerate() {
        for c in 0..BLOCK {
            let Some(equal) = set.get(first + row + c) else { break };
            let mut carry = each(|g| !equal[g]);
            for digit in counters.iter_mut() {
                let old = digit[c];
                digit[c] = each(|g| old[g] ^ carry[g]);
                carry = each(|g| old[g] & carry[g]);
            }
        }
    }
}
