//! The kernel for edits: the dynamic programming of one pattern against all lanes of a tile, one bit per lane.
//!
//! The vertical and horizontal differences of the edit distance are -1, 0 or 1 (Myers 1999, Hyyrö 2003): two vectors
//! each. A cell takes five logical operations, for 512 lanes. The rows of a block of columns are computed one after
//! the other, so that the horizontal differences of the block stay in registers. The last row's differences are
//! summed in a counter of one vector per binary digit, which is negative where a lane has at most e edits.

use merganser_seq::dispatch;
#[cfg(target_arch = "aarch64")]
use merganser_seq::lanes::Quarter;
use merganser_seq::lanes::{Bits, LANES, Part, Words, each};
use merganser_seq::simd::{Features, Level};

use crate::overhang::Overhang;
use crate::tile::{BLOCK, Tile};

/// The maximum number of vectors of a counter: it must hold -129 to 128.
const MAX_DIGITS: usize = 9;

/// An end of an alignment with at most e edits, in a lane of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LaneEnd {
    pub(crate) lane: u16,
    pub(crate) edits: u16,
    /// The column of the last letter.
    pub(crate) column: u32,
}

/// Working memory of the kernel.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// By row: whether the value is one more, and whether it is one less, than that of the row above.
    steps: Vec<[Bits; 2]>,
}

impl Rows {
    /// Appends all ends of alignments of a pattern (sets of bases) with at most `e` edits, in any order.
    /// Columns past the end of a lane's stretch are included.
    pub(crate) fn scan(
        &mut self,
        level: Level,
        tile: &Tile,
        pattern: &[u8],
        e: usize,
        overhang: Option<Overhang>,
        ends: &mut Vec<LaneEnd>,
    ) {
        self.begin(tile, pattern.len(), overhang);
        let sets: Vec<&[Bits]> = pattern.iter().map(|&bases| tile.set(bases)).collect();
        let mut counter = Counter::new(tile, pattern.len(), e, overhang);
        let mut steps = [[Bits::NONE; BLOCK]; 2];
        for first in (0..tile.columns()).step_by(BLOCK) {
            block(level, &sets, first, &mut self.steps, &mut steps);
            if counter.add(level, &steps) {
                counter.collect(&steps, first, ends);
            }
        }
    }
}

impl Rows {
    /// Initializes the column before the first one. Its values are the numbers of the rows or, in lanes at the start of a
    /// text, the costs of letters outside it.
    fn begin(&mut self, tile: &Tile, rows: usize, overhang: Option<Overhang>) {
        let all = Bits([u64::MAX; 8]);
        self.steps.clear();
        self.steps.extend((1..=rows).map(|row| {
            let is_step = overhang.is_none_or(|one| one.cost(row) > one.cost(row - 1));
            let up = if is_step { all } else { each(|g| !tile.begins()[g]) };
            [up, Bits::NONE]
        }));
    }
}

/// The horizontal differences of a row in a block of columns: +1, and -1.
type Steps = [[Bits; BLOCK]; 2];

/// Computes a block of columns that begins at column `first`; `steps` become the differences of the last row.
fn block(level: Level, sets: &[&[Bits]], first: usize, rows: &mut [[Bits; 2]], steps: &mut Steps) {
    // Parts of vectors that fit registers.
    match level.features() {
        Features::Avx512 => parts(level, sets, first, rows, steps, Words::<8>::NONE),
        Features::Avx2 => parts(level, sets, first, rows, steps, Words::<4>::NONE),
        #[cfg(target_arch = "aarch64")]
        Features::Neon => parts(level, sets, first, rows, steps, Quarter::NONE),
        _ => parts(level, sets, first, rows, steps, Words::<2>::NONE),
    }
}

dispatch! {
    /// Computes a block of columns, a part of all vectors at a time. The row above the first one is `zero` everywhere: an
    /// alignment may begin at any letter.
    fn parts[P: Part](
        sets: &[&[Bits]], first: usize, rows: &mut [[Bits; 2]], steps: &mut Steps, zero: P,
    ) = parts_body
}

#[inline(always)]
fn parts_body<P: Part>(
    sets: &[&[Bits]],
    first: usize,
    rows: &mut [[Bits; 2]],
    steps: &mut Steps,
    zero: P,
) {
    for from in (0..LANES / 64).step_by(P::WORDS) {
        part(sets, first, rows, steps, zero, from);
    }
}

/// Computes the words from `from` on.
#[inline(always)]
fn part<P: Part>(
    sets: &[&[Bits]],
    first: usize,
    rows: &mut [[Bits; 2]],
    steps: &mut Steps,
    zero: P,
    from: usize,
) {
    let [mut up, mut down] = [[zero; BLOCK]; 2];
    for (set, row) in sets.iter().zip(rows) {
        let Some(equal) = set[first..].first_chunk::<BLOCK>() else { break };
        let [mut row_up, mut row_down] = row.each_ref().map(|bits| P::load(bits, from));
        for c in 0..BLOCK {
            let (equal, above_up, above_down) = (P::load(&equal[c], from), up[c], down[c]);
            // Cells whose value is that of the cell diagonally before.
            let early = equal | above_down;
            let same = early | row_down;
            up[c] = row_down | !(same | row_up);
            down[c] = row_up & same;
            row_up = above_down | !(same | above_up);
            row_down = above_up & same;
        }
        row_up.store(&mut row[0], from);
        row_down.store(&mut row[1], from);
    }
    for c in 0..BLOCK {
        up[c].store(&mut steps[0][c], from);
        down[c].store(&mut steps[1][c], from);
    }
}

/// The last row's value of each lane, less e + 1: a two's complement number whose digits are vectors.
#[derive(Clone, Copy, Debug)]
struct Counter {
    digits: [Bits; MAX_DIGITS],
    /// The number of digits in use, including the sign.
    count: usize,
    e: usize,
}

impl Counter {
    /// Returns the counter of the column before the first one ([`Rows::begin`]).
    fn new(tile: &Tile, length: usize, e: usize, overhang: Option<Overhang>) -> Counter {
        let value = |cost: usize| cost as i64 - e as i64 - 1;
        let highest = value(length).max(e as i64 + 1);
        let count = (64 - highest.leading_zeros() + 1) as usize;
        let word = |value: i64, at: usize| if value >> at & 1 == 1 { u64::MAX } else { 0 };
        let outside = overhang.map_or(length, |overhang| overhang.cost(length));
        let begins = tile.begins();
        let digit = |at: usize| {
            let (usual, outside) = (word(value(length), at), word(value(outside), at));
            each(|g| (usual & !begins[g]) | (outside & begins[g]))
        };
        Counter { digits: std::array::from_fn(digit), count, e }
    }

    /// Adds the differences of a block of columns; returns whether any lane had at most e edits.
    fn add(&mut self, level: Level, steps: &Steps) -> bool {
        let digits = &mut self.digits;
        macro_rules! fixed {
            ($($D:literal)*) => {
                match self.count {
                    $($D => digits.first_chunk_mut::<$D>().is_some_and(|digits| add(level, digits, steps)),)*
                    _ => unreachable!("patterns have at most 128 letters"),
                }
            };
        }
        fixed!(2 3 4 5 6 7 8 9)
    }

    /// Appends the ends in a block of columns, the last column first, given the differences that were added.
    fn collect(mut self, [up, down]: &Steps, first: usize, ends: &mut Vec<LaneEnd>) {
        for (column, (up, down)) in
            (first as u32..first as u32 + BLOCK as u32).zip(up.iter().zip(down)).rev()
        {
            for lane in self.digits[self.count - 1].iter() {
                let value = (0..self.count - 1)
                    .map(|at| usize::from(self.digits[at].has(lane)) << at)
                    .sum::<usize>();
                // The value is negative, and less than it by 2^(count - 1) without its sign.
                let edits = value + self.e + 1 - (1 << (self.count - 1));
                ends.push(LaneEnd { lane: lane as u16, edits: edits as u16, column });
            }
            // Back to the column before.
            add_column(&mut self.digits[..self.count], down, up);
        }
    }
}

dispatch! {
    fn add[const D: usize](digits: &mut [Bits; D], steps: &Steps) -> bool = add_body
}

#[inline(always)]
fn add_body<const D: usize>(digits: &mut [Bits; D], [up, down]: &Steps) -> bool {
    let mut own = *digits;
    let mut is_good = Bits::NONE;
    for (up, down) in up.iter().zip(down) {
        add_column(&mut own, up, down);
        is_good = each(|g| is_good[g] | own[D - 1][g]);
    }
    *digits = own;
    is_good.any()
}

/// Adds 1 where `up` is set, and -1 where `down` is.
#[inline(always)]
fn add_column(digits: &mut [Bits], up: &Bits, down: &Bits) {
    let mut carry = *up;
    // -1 has all digits.
    for digit in digits {
        let old = *digit;
        *digit = each(|g| old[g] ^ carry[g] ^ down[g]);
        carry = each(|g| (old[g] & (carry[g] | down[g])) | (carry[g] & down[g]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters::{bases, text_bases};
    use crate::tile::Stretch;
    use proptest::prelude::*;

    fn letters(most: usize) -> impl Strategy<Value = Vec<u8>> {
        let letter = proptest::sample::select(b"ACGTACGTACGTNRYS".to_vec());
        proptest::collection::vec(letter, 1..most)
    }

    proptest! {
        #[test]
        fn ends_are_those_of_the_table(
            texts in proptest::collection::vec(letters(90), 1..20), pattern in letters(129), e in 0usize..40,
        ) {
            let e = e.min(pattern.len() - 1);
            let pattern: Vec<u8> = pattern.iter().map(|&letter| bases(letter)).collect();
            let mut expected = Vec::new();
            for (lane, text) in texts.iter().enumerate() {
                let text: Vec<u8> = text.iter().map(|&letter| text_bases(letter, false)).collect();
                expected.extend(crate::naive::ends(&pattern, &text, e).into_iter().map(|(end, edits)| {
                    LaneEnd { lane: lane as u16, edits: edits as u16, column: end as u32 - 1 }
                }));
            }
            for level in Level::available() {
                let mut tile = Tile::default();
                let stretches: Vec<_> = texts.iter().map(|letters| Stretch { letters, begins: true }).collect();
                tile.load(level, &stretches, u16::MAX, false);
                let mut ends = Vec::new();
                Rows::default().scan(level, &tile, &pattern, e, None, &mut ends);
                ends.retain(|end| {
                    texts.get(usize::from(end.lane)).is_some_and(|text| (end.column as usize) < text.len())
                });
                ends.sort_unstable_by_key(|end| (end.lane, end.column));
                prop_assert_eq!(&ends, &expected);
            }
        }
    }
}
