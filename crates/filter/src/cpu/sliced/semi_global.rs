//! Semi-global comparison of 512 pairs at once, with one bit per pair.
//!
//! In each column, only the rows are computed that a path with at most e edits can touch: from those of the
//! lowest diagonal of any pair's paths to those e below the main diagonal. Vectors are stored by row, so that
//! the reads of all pairs begin at row 0, whatever the lengths of their segments. All pairs use the widest band
//! of the group, since a wider band does not change distances within the threshold. A row that newly enters the
//! band is initialized to one more than the row above, as if its base were deleted; no path within the
//! threshold has a lower value there.
//!
//! The score of a pair is the value on the e-th diagonal below the main one until this meets the read's last row,
//! then the value in this row. The minimum in this row is the result, as in [`crate::cpu::banded::semi_global`].

use merganser_seq::dispatch;
use merganser_seq::lanes::{Bits, each, transpose};
use merganser_seq::simd::Level;

use super::least::Least;
use super::{NONE, PAIRS};
use crate::batch::SequenceView;

/// The maximum number of bases of reads and segments, chosen so that the vectors stay in the cache.
pub(crate) const MAX_BASES: usize = 4096;

/// The bounds that the pairs of a group share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The number of bases of the longest read.
    rows: usize,
    /// The number of bases of the shortest read.
    shortest: usize,
    /// The number of bases of the longest segment.
    columns: usize,
    /// The maximum number of edits of any pair, at most the length of its read.
    most: usize,
    /// The number of diagonals above the main one that a path may touch.
    above: usize,
}

impl Shape {
    /// Returns the bounds of an empty group.
    pub(crate) fn new() -> Shape {
        Shape { shortest: usize::MAX, ..Shape::default() }
    }

    /// Includes a pair, given its lengths, which must not be 0, and its maximum number of edits.
    #[inline]
    pub(crate) fn add(&mut self, [read, segment]: [usize; 2], e: usize) {
        let e = e.min(read);
        self.rows = self.rows.max(read);
        self.shortest = self.shortest.min(read);
        self.columns = self.columns.max(segment);
        self.most = self.most.max(e);
        self.above = self.above.max((segment + e).saturating_sub(read));
    }
}

/// A group of pairs that are decided together. Groups reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct SemiGlobalGroup {
    shape: Shape,
    pairs: usize,
    /// The low and high bits of the reads, by base.
    reads: [Vec<Bits>; 2],
    /// The low and high bits of the segments, by base.
    segments: [Vec<Bits>; 2],
    /// Rows whose value is one more than that of the row above.
    up: Vec<Bits>,
    /// Rows whose value is one less than that of the row above.
    down: Vec<Bits>,
    /// The pairs whose read ends in each row.
    last_rows: Vec<Bits>,
    /// The pairs whose segment has ended, by column.
    ended: Vec<Bits>,
    least: Least,
}

impl SemiGlobalGroup {
    /// Empties the group for pairs with these bounds.
    pub(crate) fn start(&mut self, shape: Shape) {
        let Shape { rows, columns, most, .. } = shape;
        for (planes, bases) in [(&mut self.reads, rows), (&mut self.segments, columns)] {
            for plane in planes {
                plane.resize(plane.len().max(bases.next_multiple_of(64)), NONE);
            }
        }
        let vectors = [
            (&mut self.up, rows, each(|_| u64::MAX)),
            (&mut self.down, rows, NONE),
            (&mut self.last_rows, rows, NONE),
            (&mut self.ended, columns + 1, NONE),
        ];
        for (vector, len, value) in vectors {
            vector.clear();
            vector.resize(len, value);
        }
        self.least.start(most + columns, most);
        self.shape = shape;
        self.pairs = 0;
    }

    /// Adds a pair without ambiguous letters.
    #[inline]
    pub(crate) fn push(&mut self, [read, segment]: [&SequenceView<'_>; 2]) {
        let (k, g) = (self.pairs % 64, self.pairs / 64 % (PAIRS / 64));
        let Shape { rows, columns, .. } = self.shape;
        let sides = [(&mut self.reads, rows, read), (&mut self.segments, columns, segment)];
        for ([low, high], most, sequence) in sides {
            let blocks = most.div_ceil(64);
            let blocks = low.as_chunks_mut::<64>().0[..blocks]
                .iter_mut()
                .zip(&mut high.as_chunks_mut::<64>().0[..blocks]);
            for (w, (low, high)) in blocks.enumerate() {
                [low[k][g], high[k][g]] = sequence.word(w);
            }
        }
        self.last_rows[read.len() - 1][g] |= 1 << k;
        self.ended[segment.len()][g] |= 1 << k;
        self.pairs += 1;
    }

    /// Computes the distances of all added pairs.
    pub(crate) fn run(&mut self, level: Level) {
        let Shape { rows, columns, most, .. } = self.shape;
        for (planes, bases) in [(&mut self.reads, rows), (&mut self.segments, columns)] {
            for plane in planes {
                for block in plane[..bases.next_multiple_of(64)].as_chunks_mut::<64>().0 {
                    transpose(level, block);
                }
            }
        }
        let mut longer = Bits::of_lanes(0..self.pairs);
        for (row, pairs) in self.last_rows.iter().enumerate().take(most) {
            // Deleting the whole read is always possible.
            self.least.set(pairs, row + 1, row + 1);
            longer = each(|g| longer[g] & !pairs[g]);
        }
        self.least.set(&longer, most, most + 1);
        walk(level, self);
    }

    /// Returns the distance of the pair added as number `lane`, if it is at most `e`.
    pub(crate) fn distance(&self, lane: usize, e: usize) -> Option<usize> {
        Some(self.least.get(lane)).filter(|&distance| distance <= e)
    }
}

dispatch! {
    /// Moves the band through all columns.
    fn walk(group: &mut SemiGlobalGroup) = walk_body
}

#[inline(always)]
fn walk_body(group: &mut SemiGlobalGroup) {
    let Shape { rows, shortest, columns, most, above } = group.shape;
    let mut alive = Bits::of_lanes(0..group.pairs);
    // Pairs whose score follows their read's last row.
    let mut along = NONE;
    for pairs in group.last_rows.iter().take(most) {
        along = each(|g| along[g] | pairs[g]);
    }
    for column in 0..columns {
        let ended = group.ended[column];
        alive = each(|g| alive[g] & !ended[g]);
        let lowest = column + most;
        let end = rows.min(lowest + 1);
        let first = column.saturating_sub(above).min(end);
        // Scores are only taken from rows after this one.
        let followed = lowest.min(shortest - 1).clamp(first, end);
        let mut walk = Column::new([group.segments[0][column], group.segments[1][column]]);
        walk.rows(group, first..followed, |_, _, _| {});
        let (mut more, mut less) = (NONE, NONE);
        let last_rows = std::mem::take(&mut group.last_rows);
        walk.rows(group, followed..end, |row, zero, across| {
            let ends = last_rows[row];
            let diagonal = if row == lowest { u64::MAX } else { 0 };
            more = each(|g| {
                let level = diagonal & !along[g] & !zero[g];
                more[g] | level | along[g] & ends[g] & !across.0[g]
            });
            less = each(|g| less[g] | along[g] & ends[g] & across.1[g]);
        });
        if let Some(ends) = last_rows.get(lowest) {
            along = each(|g| along[g] | ends[g]);
        }
        group.last_rows = last_rows;
        group.least.step(more, less);
        if lowest + 1 >= shortest {
            group.least.keep(each(|g| along[g] & alive[g]));
        }
    }
}

/// The state while computing a column from top to bottom.
struct Column {
    /// The segment's base: its low and high bits.
    letter: [Bits; 2],
    /// The pairs whose row above is not one more than in the column before. Above the first row, no pair's is, because
    /// leading gaps are free.
    not_more: Bits,
    /// The pairs whose row above is one less than in the column before. This is also the carry of the sum.
    less: Bits,
}

impl Column {
    #[inline(always)]
    fn new(letter: [Bits; 2]) -> Column {
        Column { letter, not_more: !NONE, less: NONE }
    }

    /// Computes some rows, and calls `seen` for each with the pairs whose diagonal difference is 0, and those
    /// whose horizontal difference is not 1, and is -1.
    #[inline(always)]
    fn rows(
        &mut self,
        group: &mut SemiGlobalGroup,
        rows: std::ops::Range<usize>,
        mut seen: impl FnMut(usize, Bits, (Bits, Bits)),
    ) {
        let letters = group.reads[0][rows.clone()].iter().zip(&group.reads[1][rows.clone()]);
        let vectors = group.up[rows.clone()].iter_mut().zip(&mut group.down[rows.clone()]);
        for ((row, (&low, &high)), (up, down)) in rows.zip(letters).zip(vectors) {
            let differs = (low ^ self.letter[0]) | (high ^ self.letter[1]);
            let (own_up, own_down) = (*up, *down);
            let zero = self.less | own_down | !differs;
            *up = self.less | self.not_more & !zero;
            *down = zero & !self.not_more;
            self.not_more = (zero | own_up) & !own_down;
            self.less = zero & own_up;
            seen(row, zero, (self.not_more, self.less));
        }
    }
}
