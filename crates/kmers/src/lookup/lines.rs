//! A table in memory that finds a k-mer with one memory access: its k-mers are hashed into lines.
//!
//! The table is divided into sections by the first bits of k-mers. All workers fill sections at the same time,
//! and a section stays in the worker's cache. Within a section, a hash selects a line of [`SLOTS`] k-mers,
//! which is one cache line for k up to 32. If the line is full, the k-mer is in the next line, and a bit
//! in the line marks this. Lines exist only in memory, also in that of GPUs (`cuda/seek.cuh`), never in files.

use merganser_seq::kmer::Kmer;
use merganser_seq::simd;

/// The number of k-mers in a line.
pub(crate) const SLOTS: usize = 7;
/// The average number of k-mers per line, in tenths. A larger number takes less memory, but more lines overflow.
const LOAD_TENTHS: usize = 55;
/// The code of a count that does not fit into a byte and is stored separately.
const LARGE: u8 = 255;
/// The bit in the codes of a line that tells that k-mers of this line are in the next one.
const MORE: u64 = 1 << 56;

/// A line of up to [`SLOTS`] k-mers. Since all zeros can be a k-mer, the codes tell which slots are used.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Line<K> {
    kmers: [K; SLOTS],
    /// One byte for each slot: 0 if it is empty, the count of the k-mer, or [`LARGE`]. The last byte is 1 if
    /// k-mers of this line are in the next one.
    codes: u64,
}

/// The k-mers that share their first bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section<K> {
    lines: Vec<Line<K>>,
    /// The number of large counts before those of each line; empty if there are no large counts.
    large_starts: Vec<u32>,
    large: Vec<u32>,
}

/// Returns the size of a line in bytes.
pub(crate) const fn line_bytes<K>() -> usize {
    size_of::<Line<K>>()
}

/// Returns the number of lines for `kmers` k-mers of a section.
fn lines_for(kmers: usize) -> usize {
    (10 * kmers).div_ceil(LOAD_TENTHS).max(1)
}

/// Returns an upper bound of the memory of `kmers` k-mers in `sections` sections, in bytes, not including large
/// counts.
pub(crate) fn bytes_for<K>(kmers: u64, sections: u64) -> u64 {
    (10 * kmers / LOAD_TENTHS as u64 + sections) * line_bytes::<K>() as u64
}

impl<K: Kmer> Section<K> {
    /// Creates a section of distinct k-mers with their counts, which are at least 1.
    pub(crate) fn new(kmers: &[(K, u32)]) -> Section<K> {
        let mut section = Section { lines: Vec::new(), ..Section::default() };
        section.lines = vec![Line::default(); lines_for(kmers.len())];
        let mut large: Vec<(usize, usize, u32)> = Vec::new();
        for &(kmer, count) in kmers {
            let (line, slot) = section.room(kmer);
            let code = u8::try_from(count).unwrap_or(LARGE);
            section.lines[line].kmers[slot] = kmer;
            section.lines[line].codes |= u64::from(code) << (8 * slot);
            if code == LARGE {
                large.push((line, slot, count));
            }
        }
        if !large.is_empty() {
            large.sort_unstable();
            section.large_starts = vec![0; section.lines.len()];
            let mut next = 0;
            for (line, start) in section.large_starts.iter_mut().enumerate() {
                *start = next as u32;
                next += large[next..].iter().take_while(|entry| entry.0 == line).count();
            }
            section.large = large.into_iter().map(|(_, _, count)| count).collect();
        }
        section
    }

    /// Returns the first free slot for a k-mer. One exists, since the lines have more slots than there are k-mers.
    fn room(&mut self, kmer: K) -> (usize, usize) {
        let mut line = self.line_of(kmer);
        loop {
            let codes = self.lines[line].codes;
            let free = (0..SLOTS).find(|slot| codes >> (8 * slot) & 0xff == 0);
            if let Some(slot) = free {
                return (line, slot);
            }
            self.lines[line].codes |= MORE;
            line = self.after(line);
        }
    }

    /// Returns the line at which the look-up of a k-mer begins.
    #[inline(always)]
    pub(crate) fn line_of(&self, kmer: K) -> usize {
        ((u128::from(kmer.hash()) * self.lines.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() { 0 } else { line + 1 }
    }

    /// Prefetches a line into the cache.
    #[inline(always)]
    pub(crate) fn prefetch(&self, line: usize) {
        simd::prefetch(&self.lines, line);
    }

    /// Returns the count of a k-mer whose look-up begins at `line`; 0 if the section does not have it.
    #[inline(always)]
    pub(crate) fn count(&self, kmer: K, line: usize) -> u32 {
        match self.find(kmer, line) {
            None => 0,
            Some((line, slot, LARGE)) => self.large(line, slot),
            Some((_, _, count)) => u32::from(count),
        }
    }

    /// Returns the number of a k-mer whose look-up begins at `line`, less than [`slots`](Self::slots); `None` if the
    /// section does not have it.
    #[inline(always)]
    pub(crate) fn slot(&self, kmer: K, line: usize) -> Option<usize> {
        self.find(kmer, line).map(|(line, slot, _)| line * SLOTS + slot)
    }

    /// Returns the line, the slot and the code of a k-mer whose look-up begins at `line`.
    #[inline(always)]
    fn find(&self, kmer: K, mut line: usize) -> Option<(usize, usize, u8)> {
        loop {
            let Line { kmers, codes } = &self.lines[line];
            let mut equal = 0u32;
            for (slot, &other) in kmers.iter().enumerate() {
                equal |= u32::from(other == kmer) << slot;
            }
            // Empty slots are equal to the k-mer of all zeros, but have the code 0.
            while equal != 0 {
                let slot = equal.trailing_zeros() as usize;
                match (codes >> (8 * slot)) as u8 {
                    0 => {}
                    code => return Some((line, slot, code)),
                }
                equal &= equal - 1;
            }
            if codes & MORE == 0 {
                return None;
            }
            line = self.after(line);
        }
    }

    #[cold]
    fn large(&self, line: usize, slot: usize) -> u32 {
        let codes = self.lines[line].codes;
        let before = (0..slot).filter(|other| (codes >> (8 * other)) as u8 == LARGE).count();
        self.large[self.large_starts[line] as usize + before]
    }

    /// Returns the number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.lines.len() * SLOTS
    }

    /// Calls `take` with each k-mer and the number of its slot.
    pub(crate) fn each_slot(&self, mut take: impl FnMut(K, usize)) {
        for (number, line) in self.lines.iter().enumerate() {
            let used = (0..SLOTS).filter(|slot| (line.codes >> (8 * slot)) as u8 != 0);
            used.for_each(|slot| take(line.kmers[slot], number * SLOTS + slot));
        }
    }

    /// Returns the number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Fills `words` with lines from line `from` on, in the layout of `cuda/seek.cuh`.
    pub(crate) fn write_words(&self, from: usize, words: &mut [u64]) {
        let of_kmer = K::BYTES / 8;
        let lines = words.chunks_exact_mut(line_bytes::<K>() / 8);
        for (line, words) in self.lines[from..].iter().zip(lines) {
            for (kmer, words) in line.kmers.iter().zip(words.chunks_exact_mut(of_kmer)) {
                for (number, word) in words.iter_mut().enumerate() {
                    *word = kmer.shr(64 * number as u32).low();
                }
            }
            words[SLOTS * of_kmer] = line.codes;
        }
    }

    /// Returns the number of large counts before those of each line, and all large counts; both are empty if
    /// there are no large counts.
    pub(crate) fn large_counts(&self) -> (&[u32], &[u32]) {
        (&self.large_starts, &self.large)
    }

    /// Returns the size of the section in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let large = self.large_starts.len() + self.large.len();
        (self.lines.len() * size_of::<Line<K>>() + 4 * large) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::kmer::Wide;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn check<K: Kmer>(counts: &BTreeMap<u64, u32>, shift: u32) {
        let kmer = |value: u64| K::from_low(value).shl(shift);
        let kmers: Vec<(K, u32)> = counts.iter().map(|(&value, &c)| (kmer(value), c)).collect();
        let section = Section::new(&kmers);
        let get = |kmer: K| section.count(kmer, section.line_of(kmer));
        for value in 0..1 << 10 {
            assert_eq!(get(kmer(value)), counts.get(&value).copied().unwrap_or(0), "{value}");
        }
        let mut kept = BTreeMap::new();
        section.each_slot(|kmer, slot| {
            assert_eq!(section.slot(kmer, section.line_of(kmer)), Some(slot));
            assert!(slot < section.slots() && kept.insert(kmer, get(kmer)).is_none());
        });
        assert!(kept.into_iter().eq(kmers.iter().copied()));
        assert!(
            section.bytes()
                <= bytes_for::<K>(kmers.len() as u64, 1)
                    + line_bytes::<K>() as u64
                    + 4 * (section.lines.len() + kmers.len()) as u64
        );
    }

    proptest! {
        #[test]
        fn a_section_is_a_map(
            counts in proptest::collection::btree_map(
                0u64..1 << 10,
                prop_oneof![1u32..9, 250u32..260, Just(u32::MAX)],
                0..700,
            ),
            shift in 0u32..54,
        ) {
            check::<u64>(&counts, shift);
            check::<u128>(&counts, 2 * shift);
            check::<Wide>(&counts, 4 * shift);
        }
    }

    #[test]
    fn lines_are_lines_of_the_cache() {
        assert_eq!(
            [line_bytes::<u64>(), line_bytes::<u128>(), line_bytes::<Wide>()],
            [64, 128, 256]
        );
    }
}
