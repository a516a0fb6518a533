//! Equal super-k-mers counted as one: at a depth of 100 most super-k-mers of a bin recur, and each
//! then costs one look-up instead of one for each of its k-mers.
//!
//! Where few recur (long reads with errors, low depth) it would cost more than it saves: the
//! ratio is watched and records then go straight through, with a new try now and then.

use merganser_seq::simd;

use super::Width;
use super::width::Key;

/// Records looked up together, so that their cache misses overlap.
const AT_ONCE: usize = 32;
/// Groups that go straight through after one in which little recurred.
const PAUSE: usize = 15;

#[derive(Clone, Copy)]
struct Slot<T> {
    key: T,
    /// Times that the record occurred; 0 in an empty slot.
    weight: u32,
}

impl<T: Key> Slot<T> {
    const EMPTY: Self = Slot { key: T::NONE, weight: 0 };
}

/// A group of records with the number of times each occurred.
pub struct Dedupe<K: Width> {
    slots: Vec<Slot<K::Key>>,
    shift: u32,
    distinct: usize,
    records: usize,
    pause: usize,
    pending: Vec<(K::Key, u64)>,
}

impl<K: Width> Dedupe<K> {
    /// The most records of a group: its map then has half of its slots empty.
    pub const GROUP: usize = 1 << 17;

    /// Bytes of the largest map.
    pub(crate) const BYTES: usize = 2 * Self::GROUP * size_of::<Slot<K::Key>>();

    /// One without a group.
    #[expect(clippy::new_without_default, reason = "nobody asks for a default")]
    pub fn new() -> Dedupe<K> {
        Dedupe {
            slots: Vec::new(),
            shift: 0,
            distinct: 0,
            records: 0,
            pause: 0,
            pending: Vec::with_capacity(AT_ONCE),
        }
    }

    /// Starts a group of at most `records` records; false if this group is better left alone.
    pub fn start(&mut self, records: usize) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        let slots = (records.min(Self::GROUP) * 2).next_power_of_two().max(AT_ONCE);
        self.slots.clear();
        self.slots.resize(slots, Slot::EMPTY);
        self.shift = 64 - slots.ilog2();
        self.distinct = 0;
        self.records = 0;
        true
    }

    /// Adds the record of `len` bytes at the start of `from`, if it is short enough for a key.
    #[inline(always)]
    pub fn add(&mut self, from: &[u8], len: usize) -> bool {
        if len > K::Key::BYTES {
            return false;
        }
        let key = K::Key::load(from, len);
        let hash = key.hash();
        simd::prefetch(&self.slots, (hash >> self.shift) as usize);
        self.pending.push((key, hash));
        if self.pending.len() == AT_ONCE {
            self.settle();
        }
        true
    }

    fn settle(&mut self) {
        let mask = self.slots.len() - 1;
        self.records += self.pending.len();
        for (key, hash) in self.pending.drain(..) {
            let mut at = (hash >> self.shift) as usize;
            loop {
                let slot = &mut self.slots[at & mask];
                // One branch for both a new and a known record, as in the map of k-mers.
                if (slot.weight == 0) | (slot.key == key) {
                    self.distinct += usize::from(slot.weight == 0);
                    *slot = Slot { key, weight: slot.weight + 1 };
                    break;
                }
                at += 1;
            }
        }
    }

    /// Ends the group: each distinct record with its weight, then the map is empty.
    pub fn drain(&mut self, mut visit: impl FnMut(&[u8; 64], u32)) {
        self.settle();
        if self.distinct * 4 > self.records * 3 {
            self.pause = PAUSE;
        }
        let mut bytes = [0; 64];
        let mut taken = [Slot::EMPTY; AT_ONCE];
        for slots in self.slots.chunks(AT_ONCE) {
            // Which slots are taken is as good as random: no branch asks.
            let mut len = 0;
            for &slot in slots {
                taken[len] = slot;
                len += usize::from(slot.weight > 0);
            }
            for slot in &taken[..len] {
                slot.key.bytes(&mut bytes);
                visit(&bytes, slot.weight);
            }
        }
        self.slots.clear();
    }
}
