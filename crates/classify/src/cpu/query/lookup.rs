//! Looks up many features at once.
//!
//! A table is far larger than the caches, and with pages of 4 KiB every random access also misses the TLB, which
//! costs more than the memory access itself. Features are therefore first ordered by their position in the table
//! (one distribution by the upper bits into 256 buckets, each a few MB of table), so that neighbours in the table
//! are looked up at nearly the same time.

use merganser_seq::simd::prefetch;
use merganser_store::distribute;

use crate::database::{LIST, Section};
use crate::hash::FEATURE_BITS;

/// Bits of a feature that select its bucket.
const ORDER_BITS: u32 = 8;
/// Bits of a feature below those.
const REST_BITS: u32 = FEATURE_BITS - ORDER_BITS;
/// Maximum number of features that are looked up together: their number occupies the other bits of an entry.
const MAX: usize = 1 << (64 - REST_BITS);
/// Number of features whose slots are prefetched before the first of them is read: about twice the number of memory
/// requests that a core keeps in flight.
const AHEAD: usize = 32;
/// Lists up to this length are copied when they are fetched.
const SHORT: usize = 12;
/// Marks features that were not found.
const NONE: u32 = u32::MAX;

/// The locations of a number of features, in the order of the features.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    entries: Vec<u64>,
    /// The result for each feature: [`NONE`], its only location, or [`LIST`] with the position of its list in `lists`.
    found: Vec<u32>,
    /// Lists, each preceded by its length; for long lists 0, then section and payload.
    lists: Vec<u32>,
    /// Features whose list has yet to be fetched: number, section, payload.
    waiting: Vec<(u32, u32, u32)>,
}

impl Lookup {
    /// Looks up `features` in the sections of a part.
    pub(super) fn look_up(&mut self, sections: &[Section<'_>], features: &[u64]) {
        self.found.clear();
        self.found.resize(features.len(), NONE);
        self.lists.clear();
        for (number, features) in features.chunks(MAX).enumerate() {
            let places = self.order(features);
            let mut start = 0;
            for (place, end) in places.into_iter().enumerate() {
                self.find(sections, place as u64, start..end as usize, number * MAX);
                start = end as usize;
            }
        }
    }

    /// Orders entries for the features (the remaining bits of the feature above its number) by bucket. Returns the
    /// end of each bucket.
    fn order(&mut self, features: &[u64]) -> [u32; 1 << ORDER_BITS] {
        let place = |feature: u64| (feature >> REST_BITS) as usize & ((1 << ORDER_BITS) - 1);
        let entry = |(number, &feature): (usize, &u64)| {
            (place(feature), feature << (64 - REST_BITS) | number as u64)
        };
        let mut places = [0u32; 1 << ORDER_BITS];
        distribute(features.iter().enumerate().map(entry), &mut places, &mut self.entries);
        places
    }

    /// Looks up the entries of one bucket.
    fn find(
        &mut self,
        sections: &[Section<'_>],
        place: u64,
        range: std::ops::Range<usize>,
        first: usize,
    ) {
        let section_of = |entry: u64| {
            let feature = place << REST_BITS | entry >> (64 - REST_BITS);
            ((feature >> 32) as usize & 0xfff, feature as u32)
        };
        let Lookup { entries, found, lists, waiting } = self;
        let mut slots = [0usize; AHEAD];
        for block in entries[range].chunks(AHEAD) {
            for (slot, &entry) in slots.iter_mut().zip(block) {
                let (section, feature) = section_of(entry);
                let section = &sections[section];
                *slot = section.ideal_slot(feature);
                prefetch(section.slots, *slot);
                // Searches continue over a few slots, which may cross into the next cache line.
                prefetch(section.slots, *slot + 4);
            }
            for (&slot, &entry) in slots.iter().zip(block) {
                let (number, feature) = section_of(entry);
                let section = &sections[number];
                let Some(payload) = section.payload(feature, slot) else { continue };
                let at = first + (entry as usize & (MAX - 1));
                if payload & LIST == 0 {
                    found[at] = payload;
                } else {
                    prefetch(section.lists, (payload & !LIST) as usize);
                    waiting.push((at as u32, number as u32, payload));
                }
            }
            if waiting.len() >= AHEAD {
                fetch_lists(sections, waiting, found, lists);
            }
        }
        fetch_lists(sections, waiting, found, lists);
    }

    /// Calls `take` with the locations of each feature in `range` that was found.
    #[inline(always)]
    pub(super) fn each(
        &self,
        sections: &[Section<'_>],
        range: std::ops::Range<usize>,
        mut take: impl FnMut(&[u32]),
    ) {
        for found in &self.found[range] {
            if *found == NONE {
                continue;
            }
            if *found & LIST == 0 {
                take(std::slice::from_ref(found));
                continue;
            }
            let at = (*found & !LIST) as usize;
            match self.lists[at] {
                0 => take(sections[self.lists[at + 1] as usize].list(self.lists[at + 2])),
                length => take(&self.lists[at + 1..at + 1 + length as usize]),
            }
        }
    }
}

/// Fetches the lists of all waiting features.
fn fetch_lists(
    sections: &[Section<'_>],
    waiting: &mut Vec<(u32, u32, u32)>,
    found: &mut [u32],
    lists: &mut Vec<u32>,
) {
    for (at, section, payload) in waiting.drain(..) {
        let list = sections[section as usize].list(payload);
        found[at as usize] = LIST | lists.len() as u32;
        if (1..=SHORT).contains(&list.len()) {
            lists.push(list.len() as u32);
            lists.extend(list);
        } else {
            lists.extend([0, section, payload]);
        }
    }
}
