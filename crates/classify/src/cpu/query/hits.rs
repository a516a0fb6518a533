//! Counts hits by window.

/// Slots of the small hash map: most reads hit far fewer windows.
const SLOTS: usize = 64;
/// Number of windows at which the hash map is full; further hits are collected and sorted.
const FULL: usize = 40;
const EMPTY: u32 = u32::MAX;

/// Counts the hits of a read by window.
#[derive(Debug)]
pub(super) struct HitCounter {
    windows: [u32; SLOTS],
    counts: [u32; SLOTS],
    /// The occupied slots.
    taken: Vec<u8>,
    /// The hits since the hash map became full that have not been summed up.
    hits: Vec<u32>,
    /// The hits that were summed up: (window, hits), ascending.
    sums: Vec<(u32, u32)>,
}

/// Number of collected hits at which they are summed up.
const MANY: usize = 1 << 20;

impl HitCounter {
    pub(super) fn new() -> HitCounter {
        HitCounter {
            windows: [EMPTY; SLOTS],
            counts: [0; SLOTS],
            taken: Vec::with_capacity(FULL),
            hits: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Adds a hit for each location; locations are below 2³¹.
    #[inline(always)]
    pub(super) fn add(&mut self, locations: &[u32]) {
        if self.taken.len() + locations.len() > FULL {
            self.hits.extend_from_slice(locations);
            if self.hits.len() >= MANY {
                self.sum_up();
            }
            return;
        }
        for &window in locations {
            let mut slot = (window.wrapping_mul(0x9e37_79b1) >> 26) as usize;
            while self.windows[slot] != window {
                if self.windows[slot] == EMPTY {
                    self.windows[slot] = window;
                    self.taken.push(slot as u8);
                    break;
                }
                slot = (slot + 1) % SLOTS;
            }
            self.counts[slot] += 1;
        }
    }

    /// Sums up the collected hits, so that the memory of long reads depends on the number of windows, not of hits.
    #[cold]
    fn sum_up(&mut self) {
        if self.hits.len() < 4 * self.sums.len() {
            return;
        }
        self.hits.sort_unstable();
        let equal = self.hits.chunk_by(|a, b| a == b);
        self.sums.extend(equal.map(|hits| (hits[0], hits.len() as u32)));
        self.hits.clear();
        // The vector consists of two sorted runs, which the stable sort merges.
        self.sums.sort();
        add_up(&mut self.sums);
    }

    /// Replaces `runs` by (window, hits), ascending, and resets the counter.
    pub(super) fn finish(&mut self, runs: &mut Vec<(u32, u32)>) {
        runs.clear();
        for slot in self.taken.drain(..).map(usize::from) {
            runs.push((self.windows[slot], self.counts[slot]));
            (self.windows[slot], self.counts[slot]) = (EMPTY, 0);
        }
        if self.hits.is_empty() && self.sums.is_empty() {
            runs.sort_unstable();
            return;
        }
        self.hits.sort_unstable();
        let equal = self.hits.chunk_by(|a, b| a == b);
        runs.extend(equal.map(|hits| (hits[0], hits.len() as u32)));
        self.hits.clear();
        runs.append(&mut self.sums);
        runs.sort_unstable();
        add_up(runs);
        if self.hits.capacity() > MANY {
            // Do not keep the memory of a long read.
            (self.hits, self.sums) = (Vec::new(), Vec::new());
        }
    }
}

/// Adds up the hits of equal windows, which must be adjacent.
fn add_up(runs: &mut Vec<(u32, u32)>) {
    runs.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        earlier.1 += if same { later.1 } else { 0 };
        same
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn hits_are_counted_few_or_many(
            reads in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::collection::vec(0u32..60, 1..6), 0..60), 1..4),
            scale in prop_oneof![Just(1u32), Just(0x0200_0000)],
        ) {
            let mut counter = HitCounter::new();
            let mut runs = Vec::new();
            for features in reads {
                let mut expected = BTreeMap::new();
                for locations in features {
                    let locations: Vec<u32> = locations.iter().map(|at| at * scale).collect();
                    locations.iter().for_each(|&at| *expected.entry(at).or_insert(0u32) += 1);
                    counter.add(&locations);
                }
                counter.finish(&mut runs);
                prop_assert_eq!(&runs, &expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
