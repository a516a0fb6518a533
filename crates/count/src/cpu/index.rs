//! An index from hashes to entries in a separate array: open addressing with linear probing.
//!
//! A slot takes 4 bytes whatever the size of an entry, so that the randomly accessed part stays in cache,
//! and new entries are appended at the end.

use merganser_seq::simd;

/// The numbers, from 1, of the entries; there are always fewer entries than slots.
pub(super) struct Index {
    /// 0 if empty; otherwise an entry's number in the low `bits` bits, and bits of its hash above.
    slots: Vec<u32>,
    bits: u32,
}

impl Index {
    /// Returns an empty index of two slots.
    pub(super) fn new() -> Index {
        Index { slots: vec![0; 2], bits: 1 }
    }

    /// Removes all entries and sets the number of slots, a power of two from 2 to 2^31.
    pub(super) fn reset(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.reserve_exact(slots);
        self.slots.resize(slots, 0);
        self.bits = slots.ilog2();
    }

    /// Returns the number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Prefetches the home slot of a hash.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        simd::prefetch(&self.slots, home(hash, self.bits));
    }

    /// Returns the slots in a form whose fields stay in registers: those of a vector are loaded again after each store.
    #[inline(always)]
    pub(super) fn open(&mut self) -> Slots<'_> {
        Slots { slots: &mut self.slots, bits: self.bits }
    }
}

/// Returns the slot, of 2^`bits`, where the search for a hash begins.
#[inline(always)]
fn home(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// The slots of an [`Index`].
pub(super) struct Slots<'i> {
    slots: &'i mut [u32],
    bits: u32,
}

impl Slots<'_> {
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        home(hash, self.bits)
    }

    /// Returns the entry in the home slot of a hash, which most often is the entry with that hash if there is
    /// one; 0 if the slot is empty.
    #[inline(always)]
    pub(super) fn likely(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        self.slots[self.home(hash) & mask] as usize & mask
    }

    /// Returns the number of the entry with this hash for which `equal` is true; inserts `next` and returns it if
    /// there is no such entry. `equal` may be called with `next`.
    #[inline(always)]
    pub(super) fn find_or_insert(
        &mut self,
        hash: u64,
        next: usize,
        equal: impl Fn(usize) -> bool,
    ) -> usize {
        let mask = self.slots.len() - 1;
        // The bits of the hash below those of the home slot.
        let tag = ((hash << self.bits) >> 32) as u32 & !(mask as u32);
        let mut at = self.home(hash);
        loop {
            let slot = &mut self.slots[at & mask];
            let (empty, same_tag) = (*slot == 0, (*slot ^ tag) & !(mask as u32) == 0);
            if empty | same_tag {
                let number = if empty { next } else { *slot as usize & mask };
                // One branch for both a new and a known entry: which of the two it is cannot be predicted,
                // whereas the first slot is mostly the right one.
                if empty | equal(number) {
                    *slot = tag | number as u32;
                    return number;
                }
            }
            at += 1;
        }
    }
}
