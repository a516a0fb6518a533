//! The edit distance of one pair by bit vectors along a band of diagonals (Hyyrö 2003, after Myers 1999), for
//! any lengths, threshold and letters. [`super::sliced`] computes the same for many pairs at once.
//!
//! Rows are bases of the read, columns are bases of the segment. The vectors hold the differences between
//! neighbouring rows of a column within a window of rows. The window moves down by one row per column, so each
//! bit belongs to a diagonal (row - column). A path with at most e edits stays within the band, since every
//! step off a diagonal is an edit. Leaving out all other paths can only increase distances that exceed e
//! anyway. Rows above the first one get differences of -1: their values are then |row| + column whatever their
//! letters are, which continues row 0 upwards.

use crate::NMode;
use crate::band::Band;
use crate::batch::SequenceView;

/// The vectors of a column, with 64 diagonals per word. Pairs reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Bits of rows whose value is one more than that of the row above.
    up: Vec<u64>,
    /// Bits of rows whose value is one less than that of the row above.
    down: Vec<u64>,
    zero: Vec<u64>,
}

/// A letter of the segment, with each of its bits spread over a word.
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

    /// Returns a bit for each of 64 bases of the read, as [`SequenceView::window`] returns them, that matches
    /// the letter.
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

/// Returns the edit distance of both whole sequences if it is at most `e`.
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

/// Returns the smallest edit distance of the read to any part of the segment if it is at most `e`.
///
/// The band extends from e above the diagonals at which a path can begin to e below those at which it can end.
/// The score follows the diagonal that is the first to meet the read's last row, then that row.
pub(crate) fn semi_global(
    read: &SequenceView<'_>,
    segment: &SequenceView<'_>,
    e: usize,
    mode: NMode,
    vectors: &mut Vectors,
) -> Option<usize> {
    let (rows, columns) = (read.len() as isize, segment.len() as isize);
    // Deleting the whole read is always possible, so no distance exceeds its length.
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
        // Rows above the first one are 0 in every column, as if they matched.
        let above = above.saturating_sub(column);
        vectors.step(|w| {
            spread.matches(read.window(from + 64 * w as isize), mode) | first_bits(above, w)
        });
        let column = column as isize + 1;
        if column <= rows - e {
            score += usize::from(vectors.zero[bit / 64] >> (bit % 64) & 1 == 0);
        } else {
            // The window has moved down by a row, so the last row moves up by a bit.
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

/// Returns word `w` of a vector whose first `count` bits are set.
fn first_bits(count: usize, w: usize) -> u64 {
    match count.saturating_sub(64 * w) {
        0 => 0,
        bits @ 1..64 => u64::MAX >> (64 - bits),
        _ => u64::MAX,
    }
}

impl Vectors {
    /// Initializes the column before the first one. Its first `above` rows are above the read, where values
    /// increase upwards if `rising` and are constant otherwise.
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

    /// Computes the zero diagonal differences of a column from the vertical differences of the column before
    /// and the matches.
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

    /// Whether the horizontal difference of a row is 1, and whether it is -1.
    fn across(&self, bit: usize) -> (bool, bool) {
        let of = |vector: &[u64]| vector[bit / 64] >> (bit % 64) & 1 == 1;
        let (zero, up, down) = (of(&self.zero), of(&self.up), of(&self.down));
        (down | !(zero | up), zero & up)
    }

    /// Computes the vertical differences of this column, in the window of the next one.
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
