//! Ends of a query in a window of a text, computed exactly (Myers 1999).

use crate::queries::Query;
use crate::select::End;

/// The maximum number of letters of a query: the bits of a word.
pub(crate) const MAX_LETTERS: usize = 64;

/// By set of bases: the letters of a query that match it.
#[derive(Clone, Debug)]
pub(crate) struct Matches {
    sets: [u64; 16],
    letters: u32,
}

impl Matches {
    /// Returns those of a query of at most [`MAX_LETTERS`].
    pub(crate) fn of(query: &Query) -> Matches {
        let of = |bases: usize| {
            let sets = (0..).zip(&query.sets);
            sets.map(|(at, set)| u64::from(set & bases as u8 != 0) << at).sum()
        };
        Matches { sets: std::array::from_fn(of), letters: query.sets.len() as u32 }
    }

    /// Returns the number of letters of the query.
    pub(crate) fn letters(&self) -> u32 {
        self.letters
    }
}

/// Possible ends of a query, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Window {
    /// The number of the query among those with words.
    pub(crate) query: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Joins windows of the same query that are so close that computing both at once takes fewer columns.
pub(crate) fn join(windows: &mut Vec<Window>, reach: usize) {
    windows.sort_unstable();
    windows.dedup_by(|next, window| {
        let is_close = next.query == window.query && next.first <= window.last + reach as u32;
        if is_close {
            window.last = window.last.max(next.last);
        }
        is_close
    });
}

/// Calls `found` with the ends of a query between two positions, in order. `bases` returns the bases of a letter.
pub(crate) fn ends(
    matches: &Matches,
    query: &Query,
    text: &[u8],
    bases: &[u8; 256],
    window: Window,
    mut found: impl FnMut(End),
) {
    let (rows, most) = (query.sets.len(), query.edits);
    let first = (window.first as usize).max(1);
    let last = (window.last as usize).min(text.len());
    // Alignments of these ends have no letters before.
    let from = first.saturating_sub(rows + most);
    let (mut up, mut down, mut sum) = (u64::MAX, 0u64, rows);
    for (position, &letter) in (from + 1..).zip(text.get(from..last).unwrap_or_default()) {
        let equal = matches.sets[usize::from(bases[usize::from(letter)])];
        let zero = ((equal & up).wrapping_add(up) ^ up) | equal | down;
        let (more, less) = (down | !(zero | up), zero & up);
        sum = sum + (more >> (rows - 1) & 1) as usize - (less >> (rows - 1) & 1) as usize;
        let (more, less) = (more << 1, less << 1);
        let early = equal | down;
        up = less | !(early | more);
        down = more & early;
        if sum <= most && position >= first {
            found(End { position, edits: sum });
        }
    }
}

/// Returns the mismatches of a query that ends at a position of a text, if there are no more than it may have.
pub(crate) fn mismatches(
    query: &Query,
    text: &[u8],
    bases: &[u8; 256],
    position: usize,
) -> Option<usize> {
    let letters = text.get(position.checked_sub(query.sets.len())?..position)?;
    let mut count = 0;
    for (set, letter) in query.sets.iter().zip(letters) {
        count += usize::from(set & bases[usize::from(*letter)] == 0);
        if count > query.edits {
            return None;
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters::text_bases;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_of_a_window_are_those_of_the_table(
            seed: u64, length in 1usize..65, edits in 0usize..9, first in 0usize..90, more in 0usize..40,
        ) {
            let mut random = Random(seed);
            let letters = random.bases(90);
            let text = random.mutated(&letters, 10);
            let sets = (0..length).map(|at| text_bases(letters[(at + 7) % 90], false)).collect();
            let query = Query { pattern: 0, reverse: false, in_complement: false, sets, edits: edits.min(length - 1) };
            let bases = std::array::from_fn(|letter| text_bases(letter as u8, false));
            let window = Window { query: 0, first: first as u32, last: (first + more) as u32 };
            let mut found = Vec::new();
            ends(&Matches::of(&query), &query, &text, &bases, window, |end| found.push((end.position, end.edits)));
            let text: Vec<u8> = text.iter().map(|&letter| bases[usize::from(letter)]).collect();
            let mut expected = crate::naive::ends(&query.sets, &text, query.edits);
            expected.retain(|(end, _)| (first..=first + more).contains(end));
            prop_assert_eq!(found, expected);
        }
    }
}
