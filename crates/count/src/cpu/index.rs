//! From hashes to entries that lie one behind the other elsewhere: open addressing, linear probing.
//!
//! A slot takes 4 bytes whatever an entry takes, so that what is looked up at random stays in cache, and
//! new entries are appended in order.

use merganser_seq::simd;

/// The numbers, from 1, of up to as many entries as there are slots, less one.
pub(super) struct Index {
    /// 0, or an entry's number in the low `bits` bits and bits of its hash above.
    slots: Vec<u32>,
    bits: u32,
}

impl Index {
    /// One of two slots without an entry.
    pub(super) fn new() -> Index {
        Index { slots: vec![0; 2], bits: 1 }
    }

    /// Forgets all entries; there are then `slots` slots, a power of two from 2 to 2^31.
    pub(super) fn reset(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.reserve_exact(slots);
        self.slots.resize(slots, 0);
        self.bits = slots.ilog2();
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    /// Asks the cache for the home slot of a hash.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        simd::prefetch(&self.slots, self.home(hash));
    }

    /// The entry in the home slot of a hash, most often the one of that hash if there is one; 0 if the
    /// slot is empty.
    #[inline(always)]
    pub(super) fn likely(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        self.slots[self.home(hash) & mask] as usize & mask
    }

    /// The number of the entry with this hash for which `equal` holds, or else `next`, which is in the
    /// index from now on. `equal` may be asked about `next` too.
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
                // One branch for both a new and a known entry: which of the two it is cannot be
                // predicted, that the first slot is the right one mostly can.
                if empty | equal(number) {
                    *slot = tag | number as u32;
                    return number;
                }
            }
            at += 1;
        }
    }
}
