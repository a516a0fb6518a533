//! The edit distance of one pair by bit vectors along a band of diagonals (Hyyrö 2003, after Myers
//! 1999): any lengths, any threshold, any letters. [`super::sliced`] does the same for
//! many pairs at once.
//!
//! Rows are bases of the read, columns bases of the segment. The vectors hold the differences
//! between neighbouring rows of a column within a window of rows, which moves down by one row a
//! column, so that each bit is a diagonal (row - column). A path with at most e edits stays within
//! the band, since every step off a diagonal is an edit; all other paths are left out, which can
//! only make a distance larger that is beyond e anyway. Rows above the first are given differences
//! of -1: they then take the values |row| + column whatever their letters are, which continues row
//! 0 upwards.

use crate::NMode;
use crate::band::Band;
use crate::batch::SequenceView;

/// The vectors of a column, 64 diagonals a word; kept between pairs for their memory.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Rows that are one more than the row above,
    up: Vec<u64>,
    /// and one less.
    down: Vec<u64>,
    zero: Vec<u64>,
}

/// What a letter of the segment is, spread over a word.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    low: u64,
    high: u64,
    other: bool,
}

impl Spread {
    #[inline(always)]
    pub(super) fn of(segment: &SequenceView<'_>, column: usize) -> Spread {
        let (code, other) = segment.base(column);
        let spread = |bit: u8| 0u64.wrapping_sub(u64::from(bit & 1));
        Spread { low: spread(code), high: spread(code >> 1), other }
    }

    /// Which of 64 bases of the read, as [`SequenceView::window`] gives them, match the letter.
    #[inline(always)]
    pub(super) fn matches(self, [low, high, others]: [u64; 3], mode: NMode) -> u64 {
        let equal = !((low ^ self.low) | (high ^ self.high));
        match (mode, self.other) {
            (NMode::Match, true) => u64::MAX,
            (NMode::Match, false) => equal | others,
            (_, true) => 0,
            (_, false) => equal & !others,
        }
    }
}

/// The edit distance of all of both sequences if it is at most `e`.
pub(crate) fn global(
    read: &SequenceView<'_>,
    segment: &SequenceView<'_>,
    e: usize,
    mode: NMode,
    vectors: &mut Vectors,
) -> Option<usize> {
    let e = e.min(read.len().max(segment.len()));
    let band = Band::global(read.len(), segment.len(), e)?;
    vectors.start(band.width, (-band.low) as usize, true);
    let mut score = band.last.unsigned_abs();
    let last = (band.last - band.low) as usize;
    for column in 0..segment.len() {
        let spread = Spread::of(segment, column);
        let from = column as isize + band.low;
        vectors.step(|w| spread.matches(read.window(from + 64 * w as isize), mode));
        score += usize::from(vectors.zero[last / 64] >> (last % 64) & 1 == 0);
        if score > e {
            return None;
        }
        vectors.slide();
    }
    Some(score)
}

/// The least edit distance of the read to any part of the segment if it is at most `e`.
///
/// The band goes from e above the diagonals at which a path can begin to e below those at which
/// it can end. The score follows the diagonal that meets the read's last row first, then that row.
pub(crate) fn semi_global(
    read: &SequenceView<'_>,
    segment: &SequenceView<'_>,
    e: usize,
    mode: NMode,
    vectors: &mut Vectors,
) -> Option<usize> {
    let (rows, columns) = (read.len() as isize, segment.len() as isize);
    // All of the read may be deleted: no distance is larger than its length.
    let e = e.min(read.len()) as isize;
    if rows > columns + e {
        return None;
    }
    let low = (rows - columns - e).max(-columns).min(0);
    let above = (-low) as usize;
    vectors.start((e - low) as usize + 1, above, false);
    let mut bit = (e - low) as usize;
    let mut score = e as usize;
    let mut best = if rows == e { score } else { usize::MAX };
    for column in 0..segment.len() {
        let spread = Spread::of(segment, column);
        let from = column as isize + low;
        // Rows above the first are all 0, in every column: they match.
        let above = above.saturating_sub(column);
        vectors.step(|w| {
            spread.matches(read.window(from + 64 * w as isize), mode) | first_bits(above, w)
        });
        let column = column as isize + 1;
        if column <= rows - e {
            score += usize::from(vectors.zero[bit / 64] >> (bit % 64) & 1 == 0);
        } else {
            // The window has moved on by a row, and so the last row up by a bit.
            bit -= 1;
            let (more, less) = vectors.across(bit);
            score = score + usize::from(more) - usize::from(less);
        }
        if column >= rows - e {
            best = best.min(score);
        }
        vectors.slide();
    }
    Some(best).filter(|&best| best <= e as usize)
}

/// Word `w` of a vector whose first `count` bits are set.
fn first_bits(count: usize, w: usize) -> u64 {
    match count.saturating_sub(64 * w) {
        0 => 0,
        bits @ 1..64 => u64::MAX >> (64 - bits),
        _ => u64::MAX,
    }
}

impl Vectors {
    /// The column before the first: the first `above` rows lie above the read, and rise towards it
    /// or are level.
    fn start(&mut self, width: usize, above: usize, rising: bool) {
        let words = width.div_ceil(64);
        for vector in [&mut self.up, &mut self.down, &mut self.zero] {
            vector.clear();
            vector.resize(words, 0);
        }
        for (w, (up, down)) in self.up.iter_mut().zip(&mut self.down).enumerate() {
            let above = first_bits(above, w);
            (*up, *down) = (!above, if rising { above } else { 0 });
        }
    }

    /// The diagonal differences of a column that are zero, from the vertical ones of the column
    /// before and the matches.
    #[inline(always)]
    fn step(&mut self, matches: impl Fn(usize) -> u64) {
        let mut carry = false;
        for (w, zero) in self.zero.iter_mut().enumerate() {
            let (equal, up, down) = (matches(w), self.up[w], self.down[w]);
            let (sum, first) = (equal & up).overflowing_add(up);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first | second;
            *zero = (sum ^ up) | equal | down;
        }
    }

    /// Whether the horizontal difference of a row is one more, and one less.
    fn across(&self, bit: usize) -> (bool, bool) {
        let of = |vector: &[u64]| vector[bit / 64] >> (bit % 64) & 1 == 1;
        let (zero, up, down) = (of(&self.zero), of(&self.up), of(&self.down));
        (down | !(zero | up), zero & up)
    }

    /// The vertical differences of this column, in the next one's window.
    #[inline(always)]
    fn slide(&mut self) {
        for w in 0..self.zero.len() {
            let (zero, up, down) = (self.zero[w], self.up[w], self.down[w]);
            let next = self.zero.get(w + 1).map_or(0, |next| next << 63);
            let more = down | !(zero | up);
            let less = zero & up;
            let below = zero >> 1 | next;
            self.up[w] = less | !(below | more);
            self.down[w] = below & more;
        }
    }
}
