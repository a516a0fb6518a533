//! The k-mers of a bin, divided by their hashes into parts whose maps stay in the second-level cache.
//!
//! A map of all k-mers of a bin of a human-sized input lies in memory, where each look-up is a cache miss; appending to
//! one of some hundred parts is not (the radix join of databases: Manegold, Boncz and Kersten, 2002).

use std::marker::PhantomData;
use std::ops::Range;

use merganser_seq::kmer::Kmer;

use super::KmerMap;

/// The number of k-mers of a chunk.
const CHUNK: usize = 256;
/// Stands for no chunk.
const NONE: u32 = u32::MAX;
/// The largest number of parts, as a power of two: their ends stay in the first-level cache.
const MAX_BITS: u32 = 10;
/// The largest average number of distinct k-mers in a part: a map of them takes a quarter of a megabyte.
const PART_KMERS: usize = 1 << 13;

/// k-mers with numbers of occurrences, by part, in chunks of one arena.
pub(super) struct Parts<K> {
    /// The k-mers, each followed by its number of occurrences in 4 bytes. From the system's zeroed memory, which is
    /// not there until it is written.
    bytes: Vec<u8>,
    /// The position after the last k-mer of each part; a multiple of [`CHUNK`] if its last chunk is full.
    ends: Vec<usize>,
    chunks: Chunks,
    /// The number of low bits of a hash below those that select a part.
    shift: u32,
    width: PhantomData<K>,
}

/// The chunks of all parts. Positions are numbers of k-mers from the start of the arena.
struct Chunks {
    /// The last chunk of each part.
    last: Vec<u32>,
    /// The chunk before each chunk in its part.
    before: Vec<u32>,
    /// Chunks that can be used again.
    free: Vec<u32>,
    most: usize,
}

impl Chunks {
    /// Adds a chunk to a part, and returns its first position.
    #[cold]
    fn add(&mut self, part: usize) -> usize {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.before.push(NONE);
            (self.before.len() - 1) as u32
        });
        self.before[chunk as usize] = std::mem::replace(&mut self.last[part], chunk);
        chunk as usize * CHUNK
    }

    /// Returns the number of chunks that can still be added.
    fn room(&self) -> usize {
        self.free.len() + self.most - self.before.len()
    }

    /// Returns the positions of the k-mers of a part that ends at `end`, by chunk.
    fn of(&self, part: usize, mut end: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut chunk = self.last[part];
        std::iter::from_fn(move || {
            let from = (chunk != NONE).then_some(chunk as usize * CHUNK)?;
            chunk = self.before[chunk as usize];
            Some(from..std::mem::replace(&mut end, (chunk as usize + 1).wrapping_mul(CHUNK)))
        })
    }

    /// Removes the chunks of a part.
    fn remove(&mut self, part: usize) {
        let mut chunk = std::mem::replace(&mut self.last[part], NONE);
        while chunk != NONE {
            self.free.push(chunk);
            chunk = self.before[chunk as usize];
        }
    }

    /// Removes all chunks, and makes this number of parts.
    fn clear(&mut self, parts: usize) {
        self.free.clear();
        self.free.extend((0..self.before.len() as u32).rev());
        self.last.clear();
        self.last.resize(parts, NONE);
    }
}

impl<K: Kmer> Parts<K> {
    /// The bytes of a k-mer with its number of occurrences.
    const ENTRY: usize = K::BYTES + 4;

    /// Returns parts that together take at most about `bytes` bytes.
    pub(super) fn new(bytes: u64) -> Parts<K> {
        let most = (bytes / (CHUNK * Self::ENTRY) as u64).clamp(8, u64::from(NONE)) as usize;
        let (last, before, free) = (Vec::new(), Vec::new(), Vec::new());
        Parts {
            bytes: Vec::new(),
            ends: Vec::new(),
            chunks: Chunks { last, before, free, most },
            shift: 0,
            width: PhantomData,
        }
    }

    /// Removes all k-mers, and divides by as many bits of the hash, above the lowest `shift`, as `distinct` k-mers
    /// need: at least one.
    pub(super) fn clear(&mut self, distinct: usize, shift: u32) {
        if self.bytes.is_empty() {
            self.bytes = vec![0; self.chunks.most * CHUNK * Self::ENTRY];
        }
        let most = (self.chunks.most / 8).ilog2().min(MAX_BITS);
        let bits = (distinct / PART_KMERS + 1).next_power_of_two().ilog2().clamp(1, most);
        self.chunks.clear(1 << bits);
        self.ends.clear();
        self.ends.resize(1 << bits, 0);
        self.shift = shift;
    }

    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bits of the hash that select a part.
    pub(super) fn bits(&self) -> u32 {
        self.len().ilog2()
    }

    /// Returns whether `kmers` k-mers can be added, whichever their parts are.
    pub(super) fn has_room(&self, kmers: usize) -> bool {
        self.chunks.room() >= kmers.min(self.len())
    }

    /// Returns whether at least half of the memory is in use.
    pub(super) fn is_half_full(&self) -> bool {
        2 * self.chunks.room() <= self.chunks.most
    }

    /// Returns the parts in a form to which k-mers can be added.
    #[inline(always)]
    pub(super) fn open(&mut self) -> OpenParts<'_, K> {
        let Parts { bytes, ends, chunks, shift, width } = self;
        OpenParts { bytes, ends, chunks, shift: *shift, width: *width }
    }

    /// Fills `map` with the k-mers of a part; returns false if they do not fit.
    pub(super) fn fill(&self, part: usize, map: &mut KmerMap<K>) -> bool {
        map.clear(PART_KMERS);
        let mut pending = [(K::default(), 0, 0); CHUNK];
        self.chunks.of(part, self.ends[part]).all(|chunk| {
            let entries = &self.bytes[chunk.start * Self::ENTRY..chunk.end * Self::ENTRY];
            for (entry, to) in entries.chunks_exact(Self::ENTRY).zip(&mut pending) {
                let kmer = K::load(entry);
                *to = (kmer, kmer.hash(), u32::load(&entry[K::BYTES..]));
            }
            map.add_all(&pending[..chunk.len()])
        })
    }

    /// Replaces the occurrences of each k-mer by one with their sum, part by part; returns false if the k-mers of a
    /// part do not fit into `map`.
    #[cold]
    pub(super) fn merge(&mut self, map: &mut KmerMap<K>) -> bool {
        (0..self.len()).all(|part| {
            let fits = self.fill(part, map);
            if fits {
                self.chunks.remove(part);
                self.ends[part] = 0;
                let mut parts = self.open();
                map.iter().for_each(|(kmer, count)| parts.add(kmer, kmer.hash(), count));
            }
            fits
        })
    }
}

/// [`Parts`] whose fields stay in registers: those of vectors are loaded again after each store.
pub(super) struct OpenParts<'p, K> {
    bytes: &'p mut [u8],
    ends: &'p mut [usize],
    chunks: &'p mut Chunks,
    shift: u32,
    width: PhantomData<K>,
}

impl<K: Kmer> OpenParts<'_, K> {
    /// Adds `weight` occurrences of a k-mer with this hash. There must be room ([`Parts::has_room`]).
    #[inline(always)]
    pub(super) fn add(&mut self, kmer: K, hash: u64, weight: u32) {
        let part = (hash >> self.shift) as usize & (self.ends.len() - 1);
        let mut at = self.ends[part];
        if at.is_multiple_of(CHUNK) {
            at = self.chunks.add(part);
        }
        self.ends[part] = at + 1;
        let entry = &mut self.bytes[at * Parts::<K>::ENTRY..][..Parts::<K>::ENTRY];
        kmer.store(entry);
        weight.store(&mut entry[K::BYTES..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn parts_have_the_sums_of_all_kmers_before_and_after_they_are_merged() {
        let (mut parts, mut map) = (Parts::<u64>::new(1 << 20), KmerMap::new(1 << 20));
        for (distinct, shift) in [(100_000, 0), (1, 3), (1 << 30, 1)] {
            parts.clear(distinct, shift);
            let mut expected = BTreeMap::new();
            for i in 0..60_000u64 {
                let (kmer, weight) = (i * i % 30_011, 1 + i as u32 % 3);
                if !parts.has_room(1) {
                    assert!(parts.merge(&mut map));
                }
                parts.open().add(kmer, kmer.hash(), weight);
                *expected.entry(kmer).or_insert(0) += weight;
            }
            for merged in [false, true] {
                assert!(!merged || parts.merge(&mut map));
                let mut found = BTreeMap::new();
                for part in 0..parts.len() {
                    assert!(parts.fill(part, &mut map));
                    for (kmer, count) in map.iter() {
                        let own = (kmer.hash() >> shift) as usize % parts.len();
                        assert!(own == part && found.insert(kmer, count).is_none());
                    }
                }
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn parts_stay_within_their_memory() {
        let mut parts = Parts::<u64>::new(1 << 20);
        parts.clear(1 << 20, 0);
        let mut added = 0u64;
        while parts.has_room(1) {
            parts.open().add(added, added.hash(), 1);
            added += 1;
        }
        assert!(parts.bytes.len() <= 1 << 20 && parts.is_half_full(), "{}", parts.bytes.len());
        assert!(added as usize * 12 > 3 * (1 << 20) / 4, "{added}");
    }
}
