//! Deduplication of super-k-mers: at a depth of 100 most super-k-mers of a bin recur, and one look-up of a
//! whole record then replaces one look-up for each of its k-mers.
//!
//! Where few recur (long reads with errors, low depth) this would cost more than it saves. So the ratio is
//! measured in each group; after a group with few repeats, the next [`PAUSE`] groups bypass it.

use merganser_seq::simd;

use super::Width;
use super::index::Index;
use super::width::Key;

/// The number of records looked up together, so that their cache misses overlap.
const AT_ONCE: usize = 64;
/// The number of groups that bypass deduplication after a group with few repeats.
const PAUSE: usize = 15;

#[derive(Clone, Copy)]
struct Record<T> {
    key: T,
    /// The number of occurrences; 0 in an empty entry.
    weight: u32,
}

/// A group of distinct records with their numbers of occurrences.
pub(crate) struct Dedupe<K: Width> {
    index: Index,
    /// Entries from 1 on, in order of first occurrence.
    distinct: Vec<Record<K::Key>>,
    len: usize,
    gathered: usize,
    pause: usize,
    pending: Vec<(K::Key, u64)>,
}

impl<K: Width> Dedupe<K> {
    /// The largest number of records in a group; half of the index's slots then stay empty.
    pub(crate) const GROUP: usize = 1 << 17;

    /// Bytes of the largest group.
    pub(crate) const BYTES: usize =
        (Self::GROUP + 1) * size_of::<Record<K::Key>>() + 2 * Self::GROUP * size_of::<u32>();

    /// Returns an empty deduplicator.
    pub(crate) fn new() -> Dedupe<K> {
        Dedupe {
            index: Index::new(),
            distinct: Vec::new(),
            len: 0,
            gathered: 0,
            pause: 0,
            pending: Vec::with_capacity(AT_ONCE),
        }
    }

    /// Starts a group of at most `records` records; returns false if this group is to bypass deduplication.
    pub(crate) fn start(&mut self, records: usize) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        let most = records.min(Self::GROUP);
        self.index.reset((most * 2).next_power_of_two().max(AT_ONCE));
        if self.distinct.len() <= most {
            self.distinct.reserve_exact(most + 1 - self.distinct.len());
            self.distinct.resize(most + 1, Record { key: K::Key::NONE, weight: 0 });
        }
        self.len = 0;
        self.gathered = 0;
        true
    }

    /// Adds the record of `len` bytes at the start of `from`; returns false if it is too long for a key.
    #[inline(always)]
    pub(crate) fn add(&mut self, from: &[u8], len: usize) -> bool {
        if len > K::Key::BYTES {
            return false;
        }
        let key = K::Key::load(from, len);
        let hash = key.hash();
        self.index.prefetch(hash);
        self.pending.push((key, hash));
        if self.pending.len() == AT_ONCE {
            self.settle();
        }
        true
    }

    /// Adds the pending records to the group.
    fn settle(&mut self) {
        self.gathered += self.pending.len();
        for &(_, hash) in &self.pending {
            simd::prefetch(&self.distinct, self.index.likely(hash));
        }
        let distinct = &mut self.distinct[..];
        for (key, hash) in self.pending.drain(..) {
            let at = self.index.find_or_insert(hash, self.len + 1, |at| distinct[at].key == key);
            self.len = self.len.max(at);
            distinct[at] = Record { key, weight: distinct[at].weight + 1 };
        }
    }

    /// Ends the group: passes each distinct record with its weight to `visit` and clears the group.
    pub(crate) fn drain(&mut self, mut visit: impl FnMut(&[u8; 64], u32)) {
        self.settle();
        if self.len * 4 > self.gathered * 3 {
            self.pause = PAUSE;
        }
        let mut bytes = [0; 64];
        for record in self.distinct.iter_mut().skip(1).take(self.len) {
            record.key.bytes(&mut bytes);
            visit(&bytes, record.weight);
            record.weight = 0;
        }
        self.len = 0;
    }
}
