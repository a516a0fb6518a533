//! The table of words: which segments can be aligned next to each word of a text.
//!
//! A bit of each word tells whether there is any segment, so that most words of a text are looked up in a small part of
//! the table. The list of a word is found by the number of such words before it.

use std::ops::Range;

use merganser_seq::dispatch;
use merganser_seq::planes::window;
use merganser_seq::simd::prefetch;

/// The number of words of a block.
const BLOCK: u32 = 64;

/// The lists of entries of words.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// By block of words: those that have a list.
    blocks: Vec<u64>,
    /// The number of these before each block.
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
        (12 << (2 * q)) / u64::from(BLOCK) + 64
    }

    /// Makes the table of pairs of words of `q` letters and entries, which are fewer than 2^32.
    pub(crate) fn new(q: usize, pairs: &[(u32, u32)]) -> Table {
        let mut blocks = vec![0u64; (1usize << (2 * q)).div_ceil(BLOCK as usize)];
        pairs.iter().for_each(|&(word, _)| blocks[(word / BLOCK) as usize] |= 1 << (word % BLOCK));
        let mut count = 0;
        let rank = |block: &u64| {
            let before = count;
            count += block.count_ones();
            before
        };
        let ranks = blocks.iter().map(rank).collect();
        let starts = vec![0; count as usize + 2];
        let mut table = Table { blocks, ranks, starts, entries: Vec::new() };
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
        self.blocks[(word / BLOCK) as usize] >> (word % BLOCK) & 1 == 1
    }

    /// Returns the number of the list of a word that has one.
    #[inline(always)]
    pub(crate) fn list(&self, word: u32) -> usize {
        let at = (word / BLOCK) as usize;
        let before = self.blocks[at] & ((1 << (word % BLOCK)) - 1);
        (self.ranks[at] + before.count_ones()) as usize
    }

    /// Prefetches the block of a word.
    #[inline(always)]
    fn prefetch(&self, word: u32) {
        prefetch(&self.blocks, (word / BLOCK) as usize);
    }

    /// Prefetches the place of a list.
    #[inline(always)]
    fn prefetch_list(&self, list: usize) {
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

dispatch! {
    /// Looks up the words of `q` letters that begin at a range of bits of a text, given as the low and the high bits of its
    /// letters. `lists` becomes the number of the list of each word that has one, after the bit where it begins.
    pub(crate) fn look_up(
        table: &Table, q: usize, text: &[Vec<u64>; 2], bits: Range<usize>, lists: &mut Vec<(u32, u32)>,
    ) = look_up_body
}

#[inline(always)]
fn look_up_body(
    table: &Table,
    q: usize,
    text: &[Vec<u64>; 2],
    bits: Range<usize>,
    lists: &mut Vec<(u32, u32)>,
) {
    /// The number of words that are prefetched before they are looked up.
    const AHEAD: usize = 32;
    let mask = (1u64 << q) - 1;
    lists.clear();
    lists.resize(bits.len() + 1, (0, 0));
    let mut count = 0;
    for from in bits.clone().step_by(AHEAD) {
        let [low, high] = text.each_ref().map(|bits| window(bits, from));
        let mut words = [0; AHEAD];
        for (at, word) in words.iter_mut().enumerate() {
            *word = (low >> at & mask | (high >> at & mask) << q) as u32;
            table.prefetch(*word);
        }
        for (bit, word) in (from..bits.end).zip(words) {
            lists[count] = (bit as u32, word);
            count += usize::from(table.has(word));
        }
    }
    lists.truncate(count);
    lists.iter().for_each(|list| prefetch(&table.ranks, (list.1 / BLOCK) as usize));
    for (_, word) in lists {
        let list = table.list(*word);
        table.prefetch_list(list);
        *word = list as u32;
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
