//! A hash map of k-mers and counts: open addressing, linear probing, one cache line a look-up.
//!
//! A slot is empty where its count is 0, so that every k-mer, AAAA… among them, is a key.

use merganser_kmers::Histogram;
use merganser_seq::kmer::Kmer;
use merganser_seq::simd;

/// Slots of the smallest map.
const LEAST_SLOTS: usize = 1 << 10;
/// Slots that are read out together.
const BATCH: usize = 256;

#[derive(Clone, Copy, Default)]
struct Slot<K> {
    kmer: K,
    count: u32,
}

/// Counts of distinct k-mers.
pub struct KmerMap<K> {
    slots: Vec<Slot<K>>,
    /// `hash >> shift` is the home slot.
    shift: u32,
    len: usize,
    most_slots: usize,
}

impl<K: Kmer> KmerMap<K> {
    /// A map of at most `bytes` bytes, but never fewer than the smallest.
    pub fn new(bytes: u64) -> KmerMap<K> {
        let most = (bytes / size_of::<Slot<K>>() as u64).max(1);
        let mut map = KmerMap {
            slots: Vec::new(),
            shift: 0,
            len: 0,
            most_slots: (1usize << most.ilog2()).max(LEAST_SLOTS),
        };
        map.clear(0);
        map
    }

    /// Empties the map and sizes it for about `expected` k-mers.
    pub fn clear(&mut self, expected: usize) {
        let wanted = (expected * 2).next_power_of_two().clamp(LEAST_SLOTS, self.most_slots);
        self.set_slots(wanted);
        self.len = 0;
    }

    fn set_slots(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, Slot::default());
        self.shift = 64 - slots.ilog2();
    }

    /// Distinct k-mers in the map.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Makes room for `more` new k-mers; false if the largest map has none left.
    #[inline]
    pub fn reserve(&mut self, more: usize) -> bool {
        // At most two thirds full: beyond that probes grow long.
        (self.len + more) * 3 <= self.slots.len() * 2 || self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let mut wanted = self.slots.len() * 2;
        while (self.len + more) * 3 > wanted * 2 {
            wanted *= 2;
        }
        if wanted > self.most_slots {
            return false;
        }
        let old = std::mem::take(&mut self.slots);
        self.set_slots(wanted);
        self.len = 0;
        old.iter().filter(|s| s.count > 0).for_each(|s| self.add(s.kmer, s.kmer.hash(), s.count));
        true
    }

    /// Asks the cache for the home slot of a hash.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        simd::prefetch(&self.slots, (hash >> self.shift) as usize);
    }

    /// Adds `weight` (at least 1) occurrences of a k-mer with this hash; counts stop at
    /// `u32::MAX`. There must be room ([`KmerMap::reserve`]).
    #[inline(always)]
    pub fn add(&mut self, kmer: K, hash: u64, weight: u32) {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &mut self.slots[at & mask];
            // One branch for both a new and a known k-mer: which of the two it is cannot be
            // predicted, that the first slot is the right one mostly can.
            if (slot.count == 0) | (slot.kmer == kmer) {
                self.len += usize::from(slot.count == 0);
                *slot = Slot { kmer, count: slot.count.saturating_add(weight) };
                return;
            }
            at += 1;
        }
    }

    /// Counts each k-mer's count into `histogram` and gives `visit` those k-mers whose count lies
    /// within the bounds, in no order that means anything.
    pub fn read_out<E>(
        &self,
        histogram: &mut Histogram,
        least: u32,
        most: u32,
        mut visit: impl FnMut(K, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut kept = [Slot::default(); BATCH];
        for slots in self.slots.chunks(BATCH) {
            // Which slots are taken and stay is as good as random: no branch asks.
            let mut len = 0;
            for &slot in slots {
                histogram.add_or_ignore(slot.count);
                kept[len] = slot;
                len += usize::from((slot.count >= least) & (slot.count <= most));
            }
            kept[..len].iter().try_for_each(|slot| visit(slot.kmer, slot.count))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Everything in the map, read out in two parts.
    fn all<K: Kmer>(map: &KmerMap<K>) -> BTreeMap<K, u32> {
        let (mut found, mut histogram) = (BTreeMap::new(), Histogram::default());
        for (least, most) in [(1, 7), (8, u32::MAX)] {
            let outcome = map.read_out(&mut histogram, least, most, |kmer, count| {
                assert!((least..=most).contains(&count) && found.insert(kmer, count).is_none());
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
                assert!(map.reserve(1));
                map.add(kmer, kmer.hash(), 1 + (i % 3) as u32);
                *expected.entry(kmer).or_insert(0) += 1 + (i % 3) as u32;
            }
            assert_eq!(map.len(), expected.len());
            assert_eq!(all(&map), expected);
        }
    }

    #[test]
    fn counts_stop_at_the_largest_u32_and_a_full_table_says_so() {
        let mut map = KmerMap::<u32>::new(0);
        map.add(0, 0u32.hash(), u32::MAX - 1);
        map.add(0, 0u32.hash(), 5);
        assert_eq!(all(&map), BTreeMap::from([(0, u32::MAX)]));
        assert!(map.reserve(LEAST_SLOTS / 2));
        assert!(!map.reserve(LEAST_SLOTS));
    }
}
