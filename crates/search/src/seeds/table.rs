//! The table of words: which segments can be aligned next to each word of a text.
//!
//! A bit of each word tells whether there is any segment, so that most words of a text are looked up in a few cache lines
//! that stay in the cache. The lists of segments are found by the number of such words before.

use merganser_seq::simd::prefetch;

/// The lists of entries of words.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The words that have a list.
    bits: Vec<u64>,
    /// The number of these before each word of `bits`.
    ranks: Vec<u32>,
    /// Where each list begins.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Table {
    /// The bytes that making a table takes for each entry, at most.
    pub(crate) const ENTRY: u64 = 16;

    /// Returns the bytes of a table for words of `q` letters without its entries.
    pub(crate) fn bytes(q: usize) -> u64 {
        (12 << (2 * q)) / 64 + 64
    }

    /// Makes the table of pairs of words of `q` letters and entries, which are fewer than 2^32.
    pub(crate) fn new(q: usize, pairs: &[(u32, u32)]) -> Table {
        let mut bits = vec![0u64; (1usize << (2 * q)).div_ceil(64)];
        pairs.iter().for_each(|&(word, _)| bits[word as usize / 64] |= 1 << (word % 64));
        let mut count = 0;
        let rank = |word: &u64| {
            let before = count;
            count += word.count_ones();
            before
        };
        let ranks: Vec<u32> = bits.iter().map(rank).collect();
        let mut table =
            Table { bits, ranks, starts: vec![0; count as usize + 2], entries: Vec::new() };
        table.fill(pairs);
        table
    }

    /// Sorts the entries by word.
    fn fill(&mut self, pairs: &[(u32, u32)]) {
        // Each list's start is counted two places ahead, and so becomes its end one place ahead.
        for &(word, _) in pairs {
            let list = self.list(word);
            if let Some(start) = self.starts.get_mut(list + 2) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.entries = vec![0; pairs.len()];
        for &(word, entry) in pairs {
            let list = self.list(word);
            let next = &mut self.starts[list + 1];
            self.entries[*next as usize] = entry;
            *next += 1;
        }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether a word has a list.
    #[inline(always)]
    pub(crate) fn has(&self, word: u32) -> bool {
        self.bits[word as usize / 64] >> (word % 64) & 1 == 1
    }

    /// Returns the number of the list of a word that has one.
    #[inline(always)]
    pub(crate) fn list(&self, word: u32) -> usize {
        let at = word as usize / 64;
        let before = self.bits[at] & ((1 << (word % 64)) - 1);
        (self.ranks[at] + before.count_ones()) as usize
    }

    /// Prefetches the place of a list.
    #[inline(always)]
    pub(crate) fn prefetch(&self, list: usize) {
        prefetch(&self.starts, list);
    }

    /// Returns the entries of a list as a range, and prefetches the first ones.
    #[inline(always)]
    pub(crate) fn range(&self, list: usize) -> (u32, u32) {
        let range = (self.starts[list], self.starts[list + 1]);
        prefetch(&self.entries, range.0 as usize);
        range
    }

    /// Returns the entries of a range.
    #[inline(always)]
    pub(crate) fn entries(&self, (from, to): (u32, u32)) -> &[u32] {
        &self.entries[from as usize..to as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_have_the_entries_of_their_words(pairs in proptest::collection::vec((0u32..256, any::<u32>()), 0..200)) {
            let table = Table::new(4, &pairs);
            for word in 0..256 {
                let expected: Vec<u32> = pairs.iter().filter(|pair| pair.0 == word).map(|pair| pair.1).collect();
                prop_assert_eq!(table.has(word), !expected.is_empty());
                if table.has(word) {
                    prop_assert_eq!(table.entries(table.range(table.list(word))), &expected[..]);
                }
            }
        }
    }
}
