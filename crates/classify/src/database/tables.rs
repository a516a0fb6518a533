//! The layout of a part's tables, in memory and in the file: sections of slots, ordered by feature, and of lists of
//! locations.

/// The number of sections of a table, which the upper 12 bits of a feature select.
pub(crate) const SECTIONS: usize = 4096;
/// An empty slot.
pub(crate) const EMPTY: u64 = u64::MAX;
/// Marks a payload that is the position of a list; without it, the payload is the only location.
pub(crate) const LIST: u32 = 1 << 31;
/// The number of sections that a worker makes at once and that share a checksum.
pub(crate) const GROUP: usize = 16;
/// The number of groups of a part.
pub(crate) const GROUPS: usize = SECTIONS / GROUP;

/// The position of a section in the data of its group, in 64-bit words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct SectionEntry {
    pub(crate) slots: u64,
    pub(crate) lists: u64,
    pub(crate) end: u64,
    /// The number of slots over which features are spread; further slots may follow.
    pub(crate) ideal: u64,
}

/// A section of a part, as used by queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) slots: &'a [u64],
    pub(crate) ideal: u32,
    pub(crate) lists: &'a [u32],
}

/// The tables of a group of sections of one part, one after the other.
#[derive(Debug, Default)]
pub(crate) struct GroupTables {
    pub(crate) data: Vec<u64>,
    pub(crate) sections: Vec<SectionEntry>,
}

/// Counts over all sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) features: u64,
    pub(crate) locations: u64,
    /// Features that had more locations than are kept.
    pub(crate) overfull: u64,
    /// Features that were dropped.
    pub(crate) dropped: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Counts) {
        self.features += other.features;
        self.locations += other.locations;
        self.overfull += other.overfull;
        self.dropped += other.dropped;
    }
}

impl<'a> Section<'a> {
    /// Returns the section at an entry; an empty one if the entry is out of bounds.
    pub(crate) fn new(data: &'a [u64], entry: SectionEntry) -> Section<'a> {
        let range = |from: u64, to: u64| data.get(from as usize..to as usize).unwrap_or_default();
        Section {
            slots: range(entry.slots, entry.lists),
            ideal: u32::try_from(entry.ideal).unwrap_or(0),
            lists: bytemuck::cast_slice(range(entry.lists, entry.end)),
        }
    }

    /// Returns the slot where the search for a feature starts.
    #[inline(always)]
    pub(crate) fn ideal_slot(&self, feature: u32) -> usize {
        ((u64::from(feature) * u64::from(self.ideal)) >> 32) as usize
    }

    /// Returns the payload of a feature, searched from its ideal slot on.
    #[inline(always)]
    pub(crate) fn payload(&self, feature: u32, ideal: usize) -> Option<u32> {
        for &slot in self.slots.get(ideal..)? {
            let here = (slot >> 32) as u32;
            if here >= feature {
                // The largest feature differs from an empty slot only in its payload.
                return (here == feature && slot != EMPTY).then_some(slot as u32);
            }
        }
        None
    }

    /// Returns the locations of a list.
    #[inline(always)]
    pub(crate) fn list(&self, payload: u32) -> &'a [u32] {
        let at = (payload & !LIST) as usize;
        let count = self.lists.get(at).copied().unwrap_or(0) as usize;
        self.lists.get(at + 1..at + 1 + count).unwrap_or_default()
    }

    /// Returns all features and their locations.
    pub(crate) fn features(&self) -> impl Iterator<Item = (u32, &'a [u32])> + '_ {
        let full = self.slots.iter().filter(|&&slot| slot != EMPTY);
        full.map(|slot| {
            let feature = (slot >> 32) as u32;
            if *slot as u32 & LIST != 0 {
                return (feature, self.list(*slot as u32));
            }
            // The payload is the lower half of the slot.
            let halves: &[u32] = bytemuck::cast_slice(std::slice::from_ref(slot));
            (feature, &halves[usize::from(cfg!(target_endian = "big"))..][..1])
        })
    }

    pub(super) fn is_sound(&self, windows: u32) -> bool {
        let features: Vec<u64> = self.slots.iter().copied().filter(|&slot| slot != EMPTY).collect();
        let ascending = features.windows(2).all(|pair| pair[0] >> 32 < pair[1] >> 32);
        let found = |slot: &u64| {
            let feature = (slot >> 32) as u32;
            self.payload(feature, self.ideal_slot(feature)) == Some(*slot as u32)
        };
        let located = |(_, list): (u32, &[u32])| {
            !list.is_empty()
                && list.windows(2).all(|pair| pair[0] < pair[1])
                && list.iter().all(|&location| location < windows)
        };
        ascending && features.iter().all(found) && self.features().all(located)
    }
}
