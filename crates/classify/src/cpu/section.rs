//! Lays out the entries of a section as slots and lists of locations.

use merganser_store::distribute;

use crate::database::{Counts, EMPTY, GroupTables, LIST, SectionEntry};

/// The treatment of uninformative features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Whether features with too many locations are dropped, instead of keeping their first locations.
    pub(crate) drop_overfull: bool,
    /// The maximum number of taxa of a feature's locations; features with more are dropped.
    pub(crate) max_taxa: Option<u32>,
}

/// The parameters common to all sections.
pub(crate) struct Layout<'a> {
    pub(crate) max_locations: usize,
    pub(crate) pruning: Pruning,
    /// The first window of each part except the first, ascending.
    pub(crate) part_starts: &'a [u32],
    /// Returns the taxon of a window, for [`Pruning::max_taxa`].
    pub(crate) taxon_of: &'a (dyn Fn(u32) -> u32 + Sync),
}

/// Working space.
#[derive(Default)]
pub(crate) struct Scratch {
    swap: Vec<u64>,
    ends: Vec<u32>,
    locations: Vec<u32>,
    taxa: Vec<u32>,
    parts: Vec<PartScratch>,
}

#[derive(Default)]
struct PartScratch {
    /// The feature in the upper 32 bits, the payload in the lower; ascending by feature.
    slots: Vec<u64>,
    lists: Vec<u32>,
}

/// Sorts entries: distributes them by their upper bits, which are random, into small buckets, then sorts these.
fn sort(entries: &mut Vec<u64>, scratch: &mut Scratch) {
    let bits = (entries.len() / 16).max(1).ilog2().min(12);
    if bits == 0 {
        entries.sort_unstable();
        return;
    }
    let bucket = |entry: u64| (entry >> (64 - bits)) as usize;
    let ends = &mut scratch.ends;
    ends.clear();
    ends.resize(1 << bits, 0);
    // Zeroing brings the memory into the cache if it fits.
    scratch.swap.clear();
    distribute(entries.iter().map(|&entry| (bucket(entry), entry)), ends, &mut scratch.swap);
    let mut start = 0;
    for &end in &*ends {
        scratch.swap[start as usize..end as usize].sort_unstable();
        start = end;
    }
    std::mem::swap(entries, &mut scratch.swap);
}

/// Makes the section of each part from `entries` and appends it to `tables`, one table for each part.
pub(crate) fn make(
    entries: &mut Vec<u64>,
    layout: &Layout<'_>,
    scratch: &mut Scratch,
    tables: &mut [GroupTables],
) -> Counts {
    sort(entries, scratch);
    // A feature can occur twice in a window only if two hashes share it.
    entries.dedup();
    scratch.parts.resize_with(tables.len(), PartScratch::default);
    let mut counts = Counts::default();
    let mut at = 0;
    while at < entries.len() {
        let feature = entries[at] >> 32;
        let same = entries[at..].iter().take_while(|&&entry| entry >> 32 == feature).count();
        let locations = &entries[at..at + same];
        at += same;
        take_feature(feature, locations, layout, scratch, &mut counts);
    }
    for (part, table) in scratch.parts.iter_mut().zip(tables) {
        lay_out(part, table);
    }
    counts
}

fn take_feature(
    feature: u64,
    entries: &[u64],
    layout: &Layout<'_>,
    scratch: &mut Scratch,
    counts: &mut Counts,
) {
    let overfull = entries.len() > layout.max_locations;
    counts.overfull += u64::from(overfull);
    let kept = &mut scratch.locations;
    kept.clear();
    kept.extend(entries.iter().take(layout.max_locations).map(|&entry| entry as u32));
    let ambiguous = layout.pruning.max_taxa.is_some_and(|most| {
        scratch.taxa.clear();
        scratch.taxa.extend(entries.iter().map(|&entry| (layout.taxon_of)(entry as u32)));
        scratch.taxa.sort_unstable();
        scratch.taxa.dedup();
        scratch.taxa.len() > most as usize
    });
    if ambiguous || (overfull && layout.pruning.drop_overfull) {
        counts.dropped += 1;
        return;
    }
    counts.features += 1;
    counts.locations += kept.len() as u64;
    let mut rest = &kept[..];
    for (part, scratch) in scratch.parts.iter_mut().enumerate() {
        let end = match layout.part_starts.get(part) {
            Some(&next) => rest.partition_point(|&location| location < next),
            None => rest.len(),
        };
        let (own, others) = rest.split_at(end);
        rest = others;
        let payload = match own {
            [] => continue,
            [single] => *single,
            list => {
                let offset = scratch.lists.len() as u32;
                scratch.lists.push(list.len() as u32);
                scratch.lists.extend_from_slice(list);
                LIST | offset
            }
        };
        scratch.slots.push(feature << 32 | u64::from(payload));
    }
}

/// Returns the number of ideal slots for some features. A fifth stays empty, which keeps searches short.
fn slots_for(features: usize) -> u32 {
    (features + features / 4 + 1) as u32
}

/// Places each feature at its ideal slot or the next free one after it, in ascending order, so that the table
/// depends only on its content. Empties the scratch.
fn lay_out(part: &mut PartScratch, table: &mut GroupTables) {
    let ideal = slots_for(part.slots.len());
    let start = table.data.len();
    for &slot in &part.slots {
        let wanted = start + (((slot >> 32) * u64::from(ideal)) >> 32) as usize;
        if table.data.len() < wanted {
            table.data.resize(wanted, EMPTY);
        }
        table.data.push(slot);
    }
    let end = table.data.len().max(start + ideal as usize);
    // At least one empty slot ends every search.
    table.data.resize(end + 1, EMPTY);
    let lists = table.data.len();
    let pairs = part
        .lists
        .chunks(2)
        .map(|pair| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32);
    table.data.extend(pairs);
    table.sections.push(SectionEntry {
        slots: start as u64,
        lists: lists as u64,
        end: table.data.len() as u64,
        ideal: u64::from(ideal),
    });
    part.slots.clear();
    part.lists.clear();
}
