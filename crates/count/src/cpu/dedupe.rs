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
/// The largest number of records in a group: those of most bins, since records of different groups are not compared.
const MAX_GROUP: usize = 1 << 20;
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
    /// The largest number of records in a group.
    most: usize,
    pause: usize,
    pending: Vec<(K::Key, u64)>,
}

impl<K: Width> Dedupe<K> {
    /// Returns an empty deduplicator whose groups take at most about `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Dedupe<K> {
        // The index has two to four slots for each record.
        let record = size_of::<Record<K::Key>>() + 4 * size_of::<u32>();
        Dedupe {
            index: Index::new(),
            distinct: Vec::new(),
            len: 0,
            gathered: 0,
            most: (bytes as usize / record).clamp(AT_ONCE, MAX_GROUP),
            pause: 0,
            pending: Vec::with_capacity(AT_ONCE),
        }
    }

    /// Returns the largest number of records in a group.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Starts a group of at most `records` records; returns false if this group is to bypass deduplication.
    pub(crate) fn start(&mut self, records: usize) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        let most = records.min(self.most);
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
        let Dedupe { index, distinct, len, pending, .. } = self;
        let (mut slots, distinct) = (index.open(), &mut distinct[..]);
        for &(_, hash) in &*pending {
            simd::prefetch(distinct, slots.likely(hash));
        }
        let mut last = *len;
        for &(key, hash) in &*pending {
            let at = slots.find_or_insert(hash, last + 1, |at| distinct[at].key == key);
            last = last.max(at);
            distinct[at] = Record { key, weight: distinct[at].weight + 1 };
        }
        *len = last;
        pending.clear();
    }

    /// Ends the group: passes each distinct record with its weight to `visit` and clears the group.
    pub(crate) fn drain(&mut self, mut visit: impl FnMut(&[u8], u32)) {
        self.settle();
        if self.len * 4 > self.gathered * 3 {
            self.pause = PAUSE;
        }
        for record in self.distinct.iter_mut().skip(1).take(self.len) {
            visit(record.key.record(), record.weight);
            record.weight = 0;
        }
        self.len = 0;
    }
}
