//! The words of a text next to which a segment can be aligned with a few edits.
//!
//! A segment is read from its anchor, and so is a word: backwards if both end there. The letters of a word are added one at
//! a time to the automaton of Wu and Manber (1992): row k has the numbers of letters of the segment that can be aligned to
//! the word so far with at most k edits. A word is found if a row is not empty at its end: the other letters of the segment
//! are then aligned to letters of the text beyond the word. Once the whole segment is aligned, the rest of the word may be
//! anything.

/// The maximum number of edits of a segment.
pub(crate) const MAX_EDITS: usize = 3;

/// The neighbourhood of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    /// By base: the letters of the segment that match it, from the anchor on.
    matches: [u32; 4],
    /// The number of letters.
    letters: usize,
    edits: usize,
    hamming: bool,
    /// The number of letters of a word.
    q: usize,
    /// Whether words end at the anchor.
    at_end: bool,
}

impl Neighbours {
    /// Returns the neighbourhood of a segment, given as sets of bases.
    pub(crate) fn new(
        sets: &[u8],
        edits: usize,
        at_end: bool,
        q: usize,
        hamming: bool,
    ) -> Neighbours {
        // A word reaches no further.
        let letters = sets.len().min(q + edits);
        let from_anchor = |at: usize| if at_end { sets[sets.len() - 1 - at] } else { sets[at] };
        let matches =
            |base: usize| (0..letters).map(|at| u32::from(from_anchor(at) >> base & 1) << at).sum();
        let matches = std::array::from_fn(matches);
        Neighbours { matches, letters, edits, hamming, q, at_end }
    }

    /// Calls `found` with each word and the fewest edits that it has, until it returns `false`; returns whether it did not.
    pub(crate) fn visit(&self, found: &mut impl FnMut(u32, usize) -> bool) -> bool {
        match self.edits {
            0 => self.visit_rows::<1>(found),
            1 => self.visit_rows::<2>(found),
            2 => self.visit_rows::<3>(found),
            _ => self.visit_rows::<{ MAX_EDITS + 1 }>(found),
        }
    }

    fn visit_rows<const R: usize>(&self, found: &mut impl FnMut(u32, usize) -> bool) -> bool {
        // Letters of the segment next to the anchor may be missing in the text.
        let missing = |k: usize| if self.hamming { 1 } else { (2 << k.min(self.letters)) - 1 };
        self.extend::<R>(0, 0, std::array::from_fn(missing), found)
    }

    /// Adds letters to a word with the sets of numbers of aligned letters, by edits.
    fn extend<const R: usize>(
        &self,
        depth: usize,
        word: u32,
        rows: [u32; R],
        found: &mut impl FnMut(u32, usize) -> bool,
    ) -> bool {
        if depth == self.q {
            return rows.iter().position(|&row| row != 0).is_none_or(|edits| found(word, edits));
        }
        let at = if self.at_end { self.q - 1 - depth } else { depth };
        (0..4).all(|base| {
            let rows = self.step(rows, self.matches[base]);
            rows[R - 1] == 0 || self.extend(depth + 1, word | letter(base, at, self.q), rows, found)
        })
    }

    /// Adds a letter of the word that matches some letters of the segment.
    #[inline(always)]
    fn step<const R: usize>(&self, rows: [u32; R], matches: u32) -> [u32; R] {
        let (all, whole) = ((2u32 << self.letters) - 1, 1u32 << self.letters);
        let mut next = [0; R];
        for k in 0..R {
            let mut row = (rows[k] & matches) << 1 | (rows[k] & whole);
            if k > 0 {
                row |= rows[k - 1] << 1;
                if !self.hamming {
                    row |= rows[k - 1] | next[k - 1] << 1;
                }
            }
            // A letter of the text at the anchor belongs to the letters beyond it.
            next[k] = row & all & !1;
        }
        next
    }
}

/// Returns the bits of a base at a position of a word of `q` letters: the low bits of all bases, then the high bits.
#[inline(always)]
pub(crate) fn letter(base: usize, at: usize, q: usize) -> u32 {
    ((base & 1) << at | (base >> 1) << (q + at)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::distance;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    /// Returns the fewest edits of a segment next to the anchor of a word, if any letters may follow the word; letters of
    /// the text at the anchor are no part of its alignment.
    fn naive(sets: &[u8], word: &[u8], hamming: bool) -> usize {
        if hamming {
            return sets.iter().zip(word).filter(|(set, letter)| *set & *letter == 0).count();
        }
        let inner = |rows: usize, columns: usize| distance(&sets[..rows], &word[..columns]);
        let within = (0..=word.len()).map(|columns| inner(sets.len(), columns));
        let beyond = (0..=sets.len()).map(|rows| inner(rows, word.len()));
        within.chain(beyond).min().unwrap()
    }

    proptest! {
        #[test]
        fn words_are_those_near_a_segment(
            seed: u64, letters in 2usize..9, edits in 0usize..3, q in 1usize..6, at_end: bool, hamming: bool,
        ) {
            let mut random = Random(seed);
            let sets: Vec<u8> = (0..letters).map(|_| [1, 2, 4, 8, 1, 2, 4, 8, 5, 15][random.below(10)]).collect();
            let mut found = std::collections::BTreeMap::new();
            Neighbours::new(&sets, edits, at_end, q, hamming).visit(&mut |word, edits| {
                assert!(found.insert(word, edits).is_none());
                true
            });
            let directed: Vec<u8> = if at_end { sets.iter().rev().copied().collect() } else { sets };
            for number in 0..1usize << (2 * q) {
                let bases: Vec<usize> = (0..q).map(|at| number >> (2 * at) & 3).collect();
                let word = bases.iter().enumerate().map(|(at, &base)| letter(base, at, q)).sum::<u32>();
                let mut text: Vec<u8> = bases.iter().map(|base| 1 << base).collect();
                if at_end {
                    text.reverse();
                }
                let least = naive(&directed, &text, hamming);
                match found.get(&word) {
                    // An alignment that begins with a letter of the text alone is one of the next word.
                    None => prop_assert!(least > edits || !hamming && naive(&directed, &text[1..], false) < least),
                    Some(&known) => prop_assert!(known >= least && known <= edits),
                }
            }
        }
    }
}
