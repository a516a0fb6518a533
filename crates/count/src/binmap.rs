//! The map from signatures to bins, balanced by a sample of the input (RapidGKC §III-D.4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use merganser_seq::{signature, simd};

/// The width of a slot number: signatures of up to this many bits have a slot each, longer ones share slots by a hash.
const SLOT_BITS: u32 = 18;

/// The map from signatures to slots, the units that are distributed over the bins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    multiplier: u32,
    shift: u32,
    count: usize,
}

impl Slots {
    pub(crate) fn new(signature_len: usize) -> Slots {
        if 2 * signature_len as u32 <= SLOT_BITS {
            Slots { multiplier: 1, shift: 0, count: signature::values(signature_len) }
        } else {
            Slots { multiplier: 0x9e37_79b1, shift: 32 - SLOT_BITS, count: 1 << SLOT_BITS }
        }
    }

    pub(crate) fn count(self) -> usize {
        self.count
    }

    #[inline(always)]
    pub(crate) fn of(self, signature: u32) -> usize {
        (signature.wrapping_mul(self.multiplier) >> self.shift) as usize
    }
}

/// The number that slots without a bin have instead ([`BinMap::of_met`]).
pub(crate) const NO_BIN: usize = u16::MAX as usize;

/// The bin of each slot.
#[derive(Debug)]
pub(crate) struct BinMap {
    slots: Slots,
    bin_of: Vec<u16>,
}

impl BinMap {
    /// Distributes the slots over `bins` bins so that the weights (k-mers of the sample) are even: the
    /// heaviest slot first, each to the lightest bin. Slots without weight follow round-robin.
    pub(crate) fn balanced(slots: Slots, weights: &[u64], bins: usize) -> BinMap {
        let mut map = BinMap::of_met(slots, weights, bins);
        let unmet = map.bin_of.iter_mut().filter(|bin| usize::from(**bin) == NO_BIN);
        unmet.enumerate().for_each(|(i, bin)| *bin = (i % bins) as u16);
        map
    }

    /// Distributes the slots as [`BinMap::balanced`] does, but slots without weight get no bin.
    pub(crate) fn of_met(slots: Slots, weights: &[u64], bins: usize) -> BinMap {
        let mut order: Vec<u32> = (0..slots.count() as u32).collect();
        order.sort_by_key(|&slot| (Reverse(weights[slot as usize]), slot));
        let met = order.partition_point(|&slot| weights[slot as usize] > 0);
        let mut bin_of = vec![NO_BIN as u16; slots.count()];
        let mut lightest: BinaryHeap<Reverse<(u64, u16)>> =
            (0..bins as u16).map(|bin| Reverse((0, bin))).collect();
        for &slot in &order[..met] {
            if let Some(mut top) = lightest.peek_mut() {
                let Reverse((load, bin)) = &mut *top;
                bin_of[slot as usize] = *bin;
                *load += weights[slot as usize];
            }
        }
        BinMap { slots, bin_of }
    }

    /// Returns what a device needs to map signatures to bins: the bin of each slot, and the multiplier
    /// and shift of the slot function `signature * multiplier >> shift` in 32 bits.
    pub(crate) fn for_device(&self) -> (&[u16], u32, u32) {
        (&self.bin_of, self.slots.multiplier, self.slots.shift)
    }

    /// Returns the slot of a signature and prefetches the slot's entry.
    #[inline(always)]
    pub(crate) fn prefetch(&self, signature: u32) -> usize {
        let slot = self.slots.of(signature);
        simd::prefetch(&self.bin_of, slot);
        slot
    }

    /// Returns the bin of a slot, or [`NO_BIN`].
    #[inline(always)]
    pub(crate) fn bin_of_slot(&self, slot: usize) -> usize {
        usize::from(self.bin_of[slot])
    }

    /// Returns the bin of a signature.
    #[cfg(test)]
    pub(crate) fn bin(&self, signature: u32) -> usize {
        usize::from(self.bin_of[self.slots.of(signature)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_even_when_the_weights_allow() {
        let slots = Slots::new(7);
        let weights: Vec<u64> = (0..slots.count()).map(|s| (s as u64 * 7919) % 101).collect();
        let map = BinMap::balanced(slots, &weights, 16);
        let mut loads = [0u64; 16];
        (0..slots.count()).for_each(|s| loads[map.bin(s as u32)] += weights[s]);
        let (least, most) = (loads.iter().min(), loads.iter().max());
        assert!(most <= least.map(|l| l + 101).as_ref(), "{loads:?}");
    }

    #[test]
    fn every_signature_of_every_length_has_a_bin() {
        for p in signature::LENGTHS {
            let slots = Slots::new(p);
            let map = BinMap::balanced(slots, &vec![0; slots.count()], 5);
            let special = 1u32 << (2 * p);
            for signature in [0, 1, special / 2, special - 1, special] {
                assert!(map.bin(signature) < 5, "p {p}");
            }
        }
    }
}
