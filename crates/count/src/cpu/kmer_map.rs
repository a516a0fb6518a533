//! A hash map from k-mers to counts: an index of 4 bytes a slot, and the k-mers and counts in insertion
//! order.
//!
//! Where most k-mers occur once, nearly every look-up appends: it touches only one cache line of the small
//! index, and reading out scans contiguous counts.

use merganser_kmers::Histogram;
use merganser_seq::kmer::Kmer;
use merganser_seq::simd;

use super::index::Index;

/// The number of slots of the smallest index.
const MIN_SLOTS: usize = 1 << 10;
/// The number of k-mers read out together.
const BATCH: usize = 256;

/// A map from distinct k-mers to their counts.
pub(crate) struct KmerMap<K> {
    index: Index,
    max_slots: usize,
    /// Entries from 1 on; counts after the last entry are 0.
    kmers: Vec<K>,
    counts: Vec<u32>,
    len: usize,
}

/// Returns the largest number of k-mers in a map of `slots` slots: a load factor of 5/8, above which probes grow long.
const fn max_kmers(slots: usize) -> usize {
    slots / 8 * 5
}

impl<K: Kmer> KmerMap<K> {
    /// Returns a map of at most `bytes` bytes, or the smallest map if that is larger.
    pub(crate) fn new(bytes: u64) -> KmerMap<K> {
        let entry = size_of::<K>() + size_of::<u32>();
        let least_bytes = MIN_SLOTS * size_of::<u32>() + max_kmers(MIN_SLOTS) * entry;
        let most = (bytes / least_bytes as u64 * MIN_SLOTS as u64).clamp(1, 1 << 31);
        let mut map = KmerMap {
            index: Index::new(),
            max_slots: (1usize << most.ilog2()).max(MIN_SLOTS),
            kmers: Vec::new(),
            counts: Vec::new(),
            len: 0,
        };
        map.clear(0);
        map
    }

    /// Empties the map and sizes it for about `expected` k-mers.
    pub(crate) fn clear(&mut self, expected: usize) {
        let wanted = (expected * 2).next_power_of_two().clamp(MIN_SLOTS, self.max_slots);
        self.counts.iter_mut().take(self.len + 1).for_each(|count| *count = 0);
        self.len = 0;
        self.set_slots(wanted);
    }

    /// Empties the index and allocates entries for as many k-mers as it may hold.
    fn set_slots(&mut self, slots: usize) {
        self.index.reset(slots);
        let entries = max_kmers(slots) + 1;
        self.kmers.reserve_exact(entries.saturating_sub(self.kmers.len()));
        self.kmers.resize(entries, K::default());
        self.counts.reserve_exact(entries.saturating_sub(self.counts.len()));
        self.counts.resize(entries, 0);
    }

    /// Returns the number of distinct k-mers in the map.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Makes room for `more` new k-mers; returns false if the map would exceed its largest size.
    #[inline]
    fn reserve(&mut self, more: usize) -> bool {
        self.len + more <= max_kmers(self.index.slots()) || self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let mut wanted = self.index.slots() * 2;
        while self.len + more > max_kmers(wanted) {
            wanted *= 2;
        }
        if wanted > self.max_slots {
            return false;
        }
        self.set_slots(wanted);
        let mut slots = self.index.open();
        for (at, kmer) in self.kmers[..=self.len].iter().enumerate().skip(1) {
            slots.find_or_insert(kmer.hash(), at, |_| false);
        }
        true
    }

    /// Prefetches the slot where k-mers of this hash are looked up.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    /// Adds all of `new`, each with its hash and its number of occurrences (at least 1); returns false, and adds none,
    /// if the map would exceed its largest size. Counts saturate at `u32::MAX`. The cache misses of up to some
    /// hundred k-mers overlap, best if their slots were [prefetched](KmerMap::prefetch).
    #[inline]
    pub(crate) fn add_all(&mut self, new: &[(K, u64, u32)]) -> bool {
        if !self.reserve(new.len()) {
            return false;
        }
        let KmerMap { index, kmers, counts, len, .. } = self;
        let (mut slots, kmers, counts) = (index.open(), &mut kmers[..], &mut counts[..]);
        for &(_, hash, _) in new {
            let at = slots.likely(hash);
            simd::prefetch(kmers, at);
            simd::prefetch(counts, at);
        }
        let mut last = *len;
        for &(kmer, hash, weight) in new {
            let at = slots.find_or_insert(hash, last + 1, |at| kmers[at] == kmer);
            last = last.max(at);
            kmers[at] = kmer;
            counts[at] = counts[at].saturating_add(weight);
        }
        *len = last;
        true
    }

    /// Adds the count of each k-mer to `histogram`, and passes to `visit`, in groups and in no defined order,
    /// the k-mers whose count is within the bounds.
    pub(crate) fn read_out<E>(
        &self,
        histogram: &mut Histogram,
        least: u32,
        most: u32,
        mut visit: impl FnMut(&[(K, u32)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (kmers, counts) = (&self.kmers[1..=self.len], &self.counts[1..=self.len]);
        // k-mers that occur once and are not kept are skipped early.
        let floor = least.clamp(1, 2);
        let mut once = 0;
        let mut taken = [0; BATCH];
        let mut kept = [(K::default(), 0); BATCH];
        for (kmers, counts) in kmers.chunks(BATCH).zip(counts.chunks(BATCH)) {
            // Whether a k-mer is taken and kept is unpredictable, so the loops are branchless.
            let mut len = 0;
            for (at, &count) in counts.iter().enumerate() {
                once += u64::from(count == 1);
                taken[len] = at;
                len += usize::from(count >= floor);
            }
            let mut staying = 0;
            for &at in &taken[..len] {
                let count = counts[at];
                histogram.add_or_ignore(if count == 1 { 0 } else { count });
                kept[staying] = (kmers[at], count);
                staying += usize::from((count >= least) & (count <= most));
            }
            visit(&kept[..staying])?;
        }
        histogram.add_many(1, once);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Reads out everything in the map, in two ranges of counts.
    fn all<K: Kmer>(map: &KmerMap<K>) -> BTreeMap<K, u32> {
        let (mut found, mut histogram) = (BTreeMap::new(), Histogram::default());
        for (least, most) in [(1, 7), (8, u32::MAX)] {
            let outcome = map.read_out(&mut histogram, least, most, |kmers| {
                for &(kmer, count) in kmers {
                    assert!((least..=most).contains(&count) && found.insert(kmer, count).is_none());
                }
                Ok::<_, ()>(())
            });
            assert!(outcome.is_ok());
        }
        assert_eq!(histogram.distinct(1, u32::MAX), 2 * found.len() as u64);
        found
    }

    #[test]
    fn counts_equal_a_map_through_growth_and_reuse() {
        let mut map = KmerMap::<u64>::new(1 << 24);
        for round in 0..3u64 {
            map.clear(round as usize * 100);
            let mut expected = BTreeMap::new();
            for i in 0..200_000u64 {
                let kmer = (i * i + round) % 30_011;
                assert!(map.add_all(&[(kmer, kmer.hash(), 1 + (i % 3) as u32)]));
                *expected.entry(kmer).or_insert(0) += 1 + (i % 3) as u32;
            }
            assert_eq!(map.len(), expected.len());
            assert_eq!(all(&map), expected);
        }
    }

    #[test]
    fn counts_stop_at_the_largest_u32_and_a_full_table_says_so() {
        let mut map = KmerMap::<u32>::new(0);
        let hash = 0u32.hash();
        assert!(map.add_all(&[(0, hash, u32::MAX - 1), (0, hash, 5)]));
        assert_eq!(all(&map), BTreeMap::from([(0, u32::MAX)]));
        assert!(map.reserve(MIN_SLOTS / 2));
        assert!(!map.reserve(MIN_SLOTS));
    }
}
