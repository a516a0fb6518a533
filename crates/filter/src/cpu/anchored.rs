//! The edit distance of one pair by bit vectors over all rows (Myers 1999, Hyyrö 2003), for pairs whose band of
//! diagonals would be wider than the read is long.

use super::banded::Spread;
use crate::batch::SequenceView;
use crate::{Align, NMode};

/// The vectors of a column, with 64 rows per word. Pairs reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    up: Vec<u64>,
    down: Vec<u64>,
}

/// Returns the edit distance if it is at most `e`, as the functions of [`super::banded`] do.
pub(crate) fn distance(
    read: &SequenceView<'_>,
    segment: &SequenceView<'_>,
    e: usize,
    align: Align,
    mode: NMode,
    vectors: &mut Vectors,
) -> Option<usize> {
    let (rows, words) = (read.len(), read.len().div_ceil(64));
    let global = align == Align::Global;
    if rows == 0 {
        return Some(if global { segment.len() } else { 0 }).filter(|&d| d <= e);
    }
    vectors.up.clear();
    vectors.up.resize(words, u64::MAX);
    vectors.down.clear();
    vectors.down.resize(words, 0);
    let last = (rows - 1) % 64;
    let mut score = rows;
    let mut best = rows;
    for column in 0..segment.len() {
        let spread = Spread::of(segment, column);
        let mut carry = false;
        // The horizontal difference above the first row is 1, or 0 if leading gaps are free.
        let (mut more_in, mut less_in) = (u64::from(global), 0);
        for w in 0..words {
            let (up, down) = (vectors.up[w], vectors.down[w]);
            let equal = spread.matches(read.window(64 * w as isize), mode);
            let (sum, first) = (equal & up).overflowing_add(up);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first | second;
            let zero = (sum ^ up) | equal | down;
            let (more, less) = (down | !(zero | up), zero & up);
            if w == words - 1 {
                score = score + (more >> last & 1) as usize - (less >> last & 1) as usize;
            }
            let (more_down, less_down) = (more << 1 | more_in, less << 1 | less_in);
            (more_in, less_in) = (more >> 63, less >> 63);
            vectors.up[w] = less_down | !(zero | more_down);
            vectors.down[w] = more_down & zero;
        }
        best = best.min(score);
    }
    Some(if global { score } else { best }).filter(|&d| d <= e)
}
