//! A set that reads are held against: a hash map of open addressing without values.

use merganser_seq::simd::prefetch;

use crate::Params;

/// Of so many slots
const SLOTS: usize = 4;
/// so many are taken, at most.
const TAKEN: usize = 3;
/// Slots beyond the last one that a number can belong to: there is no way round to the first.
const BEYOND: usize = 256;
/// No number: these have 62 bits at most.
const EMPTY: u64 = u64::MAX;
/// Look-ups whose memory is fetched together.
const TOGETHER: usize = 32;

/// The minimizers of a host, to be looked up.
#[derive(Clone, Debug)]
pub struct Host {
    params: Params,
    len: usize,
    /// Slots that a number can belong to, by its share of the range.
    own: usize,
    slots: Vec<u64>,
}

impl Host {
    /// Bytes that so many minimizers take.
    pub(crate) fn bytes(count: usize) -> u64 {
        8 * (count as u64 * SLOTS as u64 / TAKEN as u64 + BEYOND as u64 + 2)
    }

    /// With room for so many.
    pub(crate) fn with_room(params: Params, count: usize) -> Host {
        let own = count * SLOTS / TAKEN + 1;
        Host { params, len: 0, own, slots: vec![EMPTY; own + BEYOND] }
    }

    /// Which minimizers these are.
    pub fn params(&self) -> Params {
        self.params
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot that a number belongs to: those in order have slots in order.
    #[inline(always)]
    fn slot(&self, spread: u64) -> usize {
        let shift = 64 - 2 * self.params.k() as u32;
        ((u128::from(spread << shift) * self.own as u128) >> 64) as usize
    }

    /// Adds one; nothing changes if it is there.
    pub(crate) fn add(&mut self, spread: u64) {
        let mut slot = self.slot(spread);
        while let Some(taken) = self.slots.get_mut(slot) {
            if *taken == EMPTY {
                *taken = spread;
                self.len += 1;
                return;
            }
            if *taken == spread {
                return;
            }
            slot += 1;
        }
        // All are taken to the end, which look-ups meet as well.
        self.slots.push(spread);
        self.len += 1;
    }

    /// Whether it has a minimizer, as [`values`](crate::MinimizerSet::values) has them.
    pub fn contains(&self, value: u64) -> bool {
        self.has(self.params.spread(value))
    }

    #[inline(always)]
    fn has(&self, spread: u64) -> bool {
        let slots = self.slots[self.slot(spread)..].iter();
        slots.take_while(|&&slot| slot != EMPTY).any(|&slot| slot == spread)
    }

    /// Calls `found` with the places of those minimizers that it has.
    pub(crate) fn look_up(&self, values: &[u64], mut found: impl FnMut(usize)) {
        let mut spread = [0; TOGETHER];
        for (number, values) in values.chunks(TOGETHER).enumerate() {
            for (spread, &value) in spread.iter_mut().zip(values) {
                *spread = self.params.spread(value);
                prefetch(&self.slots, self.slot(*spread));
            }
            for (at, &spread) in spread[..values.len()].iter().enumerate() {
                if self.has(spread) {
                    found(number * TOGETHER + at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_added_is_there_and_nothing_else(
            values in proptest::collection::btree_set(0u64..1024, 0..700),
            crowded in any::<bool>(),
        ) {
            let params = Params::new(5, 3).unwrap();
            let room = if crowded { values.len() / 8 } else { values.len() };
            let mut host = Host::with_room(params, room);
            for &value in values.iter().chain(&values) {
                host.add(params.spread(value));
            }
            prop_assert_eq!(host.len(), values.len());
            let all: Vec<u64> = (0..1024).collect();
            let mut found = Vec::new();
            host.look_up(&all, |at| found.push(at as u64));
            prop_assert!(found.iter().eq(values.iter()));
            prop_assert!(all.iter().all(|&value| host.contains(value) == values.contains(&value)));
        }
    }
}
