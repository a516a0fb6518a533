//! The letters of a query beyond a word: a test that most candidates fail, of 32 candidates at once.
//!
//! A lane computes a column of the table of dynamic programming with a few operations on a word whose bits are rows (Myers
//! 1999, Hyyrö 2003). The first column and the first row have the number of letters before, because the alignment begins
//! at the word.

use merganser_seq::dispatch;

/// The number of lanes.
pub(crate) const LANES: usize = 32;
/// The maximum number of letters of a side: the rows of a lane.
const ROWS: usize = 16;
/// The maximum number of letters of a text that a side is aligned to.
const COLUMNS: usize = 32;
/// The maximum number of edits of a query: a side has no more columns then.
pub(crate) const MAX_EDITS: usize = COLUMNS - ROWS;

/// The letters of a query next to an anchor, on one side of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    /// By base: the letters that match it. The last letter is the highest bit.
    matches: [u16; 4],
    letters: u16,
}

impl Side {
    /// Returns a side, given as sets of bases from the anchor on; letters that are too far away are left out.
    pub(crate) fn new(sets: impl Iterator<Item = u8>) -> Side {
        let sets: Vec<u8> = sets.take(ROWS).collect();
        let first = ROWS - sets.len();
        let matches = |base: usize| {
            (first..).zip(&sets).map(|(at, set)| u16::from(set >> base & 1) << at).sum()
        };
        Side { matches: std::array::from_fn(matches), letters: sets.len() as u16 }
    }

    /// Returns the number of letters.
    pub(crate) fn letters(&self) -> usize {
        usize::from(self.letters)
    }
}

/// Candidates, one in each lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    count: usize,
    matches: [[u16; LANES]; 4],
    letters: [u16; LANES],
    most: [u16; LANES],
    /// The low and the high bits of the letters of the text, from the anchor on: the first 16, and those after them.
    text: [[[u16; LANES]; 2]; 2],
}

impl Lanes {
    /// Adds a candidate: a side that may have `most` edits, and the low and the high bits of the text from the anchor on.
    /// Returns whether all lanes are in use.
    #[inline(always)]
    pub(crate) fn add(&mut self, side: &Side, most: usize, [low, high]: [u32; 2]) -> bool {
        let lane = self.count % LANES;
        for base in 0..4 {
            self.matches[base][lane] = side.matches[base];
        }
        self.letters[lane] = side.letters;
        self.most[lane] = most as u16;
        for half in 0..2 {
            self.text[half][0][lane] = (low >> (ROWS * half)) as u16;
            self.text[half][1][lane] = (high >> (ROWS * half)) as u16;
        }
        self.count = lane + 1;
        self.count == LANES
    }

    /// Returns the number of lanes in use.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Empties all lanes.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }
}

dispatch! {
    /// Returns a bit for each lane whose side can be aligned to the first letters of its text, of which `columns` are
    /// used, with no more edits than it may have.
    pub(crate) fn alive(lanes: &Lanes, columns: usize) -> u32 = alive_body
}

#[inline(always)]
fn alive_body(lanes: &Lanes, columns: usize) -> u32 {
    const LAST: u32 = ROWS as u32 - 1;
    let mut up: [u16; LANES] =
        every(|l| u16::MAX.checked_shl(ROWS as u32 - u32::from(lanes.letters[l])).unwrap_or(0));
    let mut down = [0u16; LANES];
    let mut sum = lanes.letters;
    let mut least = sum;
    let [adenine, cytosine, guanine, thymine] = lanes.matches;
    for column in 0..columns.min(COLUMNS) {
        let ([low, high], at) = (&lanes.text[column / ROWS], column % ROWS);
        for l in 0..LANES {
            let spread = |bits: u16| 0u16.wrapping_sub(bits >> at & 1);
            let (low, high) = (spread(low[l]), spread(high[l]));
            let purine = (adenine[l] & !high) | (guanine[l] & high);
            let pyrimidine = (cytosine[l] & !high) | (thymine[l] & high);
            let equal = (purine & !low) | (pyrimidine & low);
            let (u, d) = (up[l], down[l]);
            let zero = ((equal & u).wrapping_add(u) ^ u) | equal;
            let (more, less) = (d | !(zero | u), zero & u);
            sum[l] = sum[l].wrapping_add(more >> LAST).wrapping_sub(less >> LAST);
            least[l] = least[l].min(sum[l]);
            let (more, less) = (more << 1 | 1, less << 1);
            let early = equal | d;
            up[l] = less | !(early | more);
            down[l] = more & early;
        }
    }
    (0..lanes.count).map(|l| u32::from(least[l] <= lanes.most[l]) << l).sum()
}

#[inline(always)]
fn every(of: impl FnMut(usize) -> u16) -> [u16; LANES] {
    std::array::from_fn(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::distance;
    use merganser_seq::simd::Level;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_whose_sides_match_are_alive(seed: u64, count in 1usize..33, columns in 16usize..33) {
            let mut random = Random(seed);
            let (mut lanes, mut expected) = (Lanes::default(), 0);
            for lane in 0..count {
                let text: Vec<u8> = (0..32).map(|_| random.below(4) as u8).collect();
                let length = random.below(18);
                let mut sets: Vec<u8> = text.iter().map(|base| 1 << base).take(length).collect();
                for _ in 0..random.below(4).min(length) {
                    match (random.below(length), random.below(3)) {
                        (at, 0) => sets[at] = 1 + random.below(15) as u8,
                        (at, 1) => sets.insert(at, 1 << random.below(4)),
                        (at, _) => drop(sets.remove(at)),
                    }
                    if sets.len() < length {
                        sets.push(15);
                    }
                }
                let most = random.below(4);
                let bits = |bit: u8| text.iter().enumerate().map(|(at, base)| u32::from(base >> bit & 1) << at).sum();
                let is_full = lanes.add(&Side::new(sets.iter().copied()), most, [bits(0), bits(1)]);
                prop_assert_eq!(is_full, lane == 31);
                let bases: Vec<u8> = text.iter().map(|base| 1 << base).collect();
                let rows = sets.len().min(ROWS);
                let least = (0..=columns).map(|end| distance(&sets[..rows], &bases[..end])).min().unwrap();
                expected |= u32::from(least <= most) << lane;
            }
            for level in Level::available() {
                prop_assert_eq!(alive(level, &lanes, columns), expected);
            }
        }
    }
}
