//! Counting of k-mers so short that each possible k-mer has a counter.

use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::fragments::{Consumer, Fragment};

/// The largest k that is counted with direct counters: 4^10 of them take 4 MiB, which fits in a core's cache.
pub(crate) const MAX_K: usize = 10;

/// A counter for each possible k-mer; strands are merged on reading out.
pub(crate) struct SmallCounter {
    k: usize,
    counts: Vec<u32>,
    pub(crate) kmers: u64,
}

impl SmallCounter {
    pub(crate) fn new(k: usize) -> SmallCounter {
        SmallCounter { k, counts: vec![0; 1 << (2 * k)], kmers: 0 }
    }

    /// Adds another worker's counts, saturating at `u32::MAX`.
    pub(crate) fn merge(&mut self, other: &SmallCounter) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.kmers += other.kmers;
    }

    /// Returns the count of a k-mer, of both strands if `canonical`.
    pub(crate) fn count(&self, kmer: u32, canonical: bool) -> u32 {
        let (count, reverse) = (self.counts[kmer as usize], kmer.reverse_complement(self.k));
        match canonical && reverse != kmer {
            true => count.saturating_add(self.counts[reverse as usize]),
            false => count,
        }
    }

    /// Iterates over the k-mers that occur, with their counts, in order.
    pub(crate) fn iter(&self, canonical: bool) -> impl Iterator<Item = (u32, u32)> + '_ {
        let all = 0..1u32 << (2 * self.k);
        let own = all.filter(move |kmer| !canonical || *kmer <= kmer.reverse_complement(self.k));
        own.map(move |kmer| (kmer, self.count(kmer, canonical))).filter(|&(_, count)| count > 0)
    }
}

impl Consumer for SmallCounter {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let mask = (1u32 << (2 * self.k)) - 1;
        for fragment in fragments {
            let codes = &codes[fragment.start..fragment.end];
            let mut kmer = 0;
            for (i, &code) in codes.iter().enumerate() {
                kmer = (kmer << 2 | u32::from(code)) & mask;
                if i + 1 >= self.k {
                    let count = &mut self.counts[kmer as usize];
                    *count = count.saturating_add(1);
                    self.kmers += 1;
                }
            }
        }
        Ok(())
    }
}
