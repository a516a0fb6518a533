//! The highest score of the alignments that [`Affine`](super::affine::Affine) chooses from, without an alignment: most
//! clipped reads have no better one.
//!
//! The cells of an antidiagonal do not depend on each other, so the compiler uses vectors for them. Antidiagonal t has
//! the cells of row i and diagonal d for which 2i + d = t.

use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use super::affine::Area;
use super::clip::{CLIP, GAP, MATCH, MISMATCH};
use crate::NMode;

/// A score below that of any alignment; gaps may be added to it.
const NEVER: i16 = i16::MIN / 2;

/// The letter of positions outside the contig, whose alignment costs more than usual alignments gain.
const OUTSIDE: i16 = 1 << 6;
/// The letter that matches every letter.
const ANY: i16 = 1 << 3;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(super) struct Highest {
    /// The letters of the query, in reverse order, and those of the text from the first diagonal on.
    query: Vec<i16>,
    text: Vec<i16>,
    /// The last cells of the even and of the odd diagonals.
    cells: [Cells; 2],
}

/// Scores of the last cells of every other diagonal, with a cell that has none before and after them.
#[derive(Debug, Default)]
struct Cells {
    /// The highest scores, and those of alignments that end with an insertion and with a deletion.
    scores: Vec<i16>,
    insertions: Vec<i16>,
    deletions: Vec<i16>,
}

impl Cells {
    fn reset(&mut self, diagonals: usize) {
        for values in [&mut self.scores, &mut self.insertions, &mut self.deletions] {
            values.clear();
            values.resize(diagonals + 2, NEVER);
        }
    }
}

impl Highest {
    /// Returns a score that no alignment of a part of the query exceeds. For reads of up to 8,192 bases, it is the highest
    /// score itself if that is at least 0.
    pub(super) fn score(&mut self, area: &Area<'_>) -> i64 {
        let Area { query, text, contig, first, width, mode } = *area;
        let letter = |code: u8, other: i16| match (code, mode) {
            (0..4, _) => i16::from(code),
            (_, NMode::Match) => ANY,
            _ => other,
        };
        self.query.clear();
        self.query.extend((0..query.len).rev().map(|at| letter(query.code(at), 4)));
        let places = first..first + (query.len + width) as i64;
        let inside = i64::from(contig.start)..i64::from(contig.end());
        self.text.clear();
        self.text.extend(places.map(|place| match inside.contains(&place) {
            true => letter(text.code(place as usize), 5),
            false => OUTSIDE,
        }));
        for (parity, cells) in self.cells.iter_mut().enumerate() {
            cells.reset((width + 1 - parity) / 2);
        }
        let Highest { query, text, cells } = self;
        i64::from(antidiagonals(Level::best(), query, text, cells, width))
    }
}

dispatch!(
    fn antidiagonals(query: &[i16], text: &[i16], cells: &mut [Cells; 2], width: usize) -> i16
        = antidiagonals_inline
);

#[inline(always)]
fn antidiagonals_inline(query: &[i16], text: &[i16], cells: &mut [Cells; 2], width: usize) -> i16 {
    let len = query.len();
    let [mut inner, mut last] = [NEVER; 2];
    for number in 0..2 * len + width {
        let (parity, row) = (number % 2, number / 2);
        let [even, odd] = cells;
        let (of, other) = if parity == 0 { (even, &*odd) } else { (odd, &*even) };
        let count = of.scores.len() - 2;
        // The diagonal with this index has its cell in row `row` - index.
        let indices = row.saturating_sub(len)..row.min(count);
        if !indices.is_empty() {
            let first = indices.start;
            let query = &query[len + first - row..];
            let text = &text[row + parity + first - 1..];
            inner = inner.max(advance(of, other, indices, parity, query, text));
        }
        if row < count {
            of.scores[row + 1] = 0;
        }
        if row >= len && row - len < count {
            last = last.max(of.scores[row - len + 1]);
        }
    }
    last.max(inner + CLIP as i16)
}

/// Computes the next cells of the diagonals with these indices from those of the diagonals beside them, and returns the
/// highest score. The first letters are those of the first diagonal.
#[inline(always)]
fn advance(
    of: &mut Cells,
    other: &Cells,
    indices: std::ops::Range<usize>,
    parity: usize,
    query: &[i16],
    text: &[i16],
) -> i16 {
    let [open, more] = [(GAP[0] + GAP[1]) as i16, GAP[1] as i16];
    let (first, count) = (indices.start + 1, indices.len());
    let scores = &mut of.scores[first..][..count];
    let insertions = &mut of.insertions[first..][..count];
    let deletions = &mut of.deletions[first..][..count];
    let (left, right) = (first + parity - 1, first + parity);
    let (left_scores, left_deletions) = (&other.scores[left..], &other.deletions[left..]);
    let (right_scores, right_insertions) = (&other.scores[right..], &other.insertions[right..]);
    let (left_scores, left_deletions) = (&left_scores[..count], &left_deletions[..count]);
    let (right_scores, right_insertions) = (&right_scores[..count], &right_insertions[..count]);
    let (query, text) = (&query[..count], &text[..count]);
    let mut highest = NEVER;
    for at in 0..count {
        let is_match = (query[at] == text[at]) | ((query[at] | text[at]) & ANY != 0);
        let pair = if is_match { MATCH as i16 } else { MISMATCH as i16 };
        let pair = if text[at] == OUTSIDE { NEVER / 2 } else { pair };
        insertions[at] = (right_scores[at] + open).max(right_insertions[at] + more);
        deletions[at] = (left_scores[at] + open).max(left_deletions[at] + more);
        let aligned = (scores[at] + pair).max(CLIP as i16);
        scores[at] = aligned.max(insertions[at]).max(deletions[at]);
        highest = highest.max(scores[at]);
    }
    highest
}
