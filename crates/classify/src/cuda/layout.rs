//! Makes tables from the sketches in device memory, a range of sections at a time.
//!
//! Features and their locations are gathered in the order of the reference, sorted, limited, and laid out as in the
//! file (`cuda/layout.cuh`). The host receives the sizes of the sections and assigns their positions.

use std::ops::Range;
use std::sync::Arc;

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Stream, primitives};
use merganser_run::{Cancel, each};

use super::budget::too_little_memory;
use super::collector::{Collector, WindowSketches, Workspace};
use super::kernels::SectionPlace;
use super::kernels::build::{
    self as kernels, EntriesMut, Packing, PartLayout, Runs, SectionCounts, SectionSize,
    SectionWords, Sorted,
};
use super::table::DeviceTable;
use crate::Error;
use crate::database::{
    Counts, GROUP, GroupTables, RemoteTables, SECTIONS, SectionEntry, TablePlace, Writer,
};
use crate::entries::Numbering;

/// The parameters of tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    /// The maximum number of locations of a feature.
    pub(crate) most: u32,
    /// Whether features with more locations are dropped.
    pub(crate) drop_overfull: bool,
    /// The first window of each part except the first, ascending.
    pub(crate) part_starts: &'a [u32],
}

impl Rules<'_> {
    fn parts(&self) -> usize {
        self.part_starts.len() + 1
    }

    /// Returns the windows of a part.
    fn windows(&self, part: usize) -> Range<u32> {
        let start = if part == 0 { 0 } else { self.part_starts[part - 1] };
        start..self.part_starts.get(part).copied().unwrap_or(u32::MAX)
    }
}

/// The sketches of a reference, in its order.
pub(crate) struct DeviceLayout<'a> {
    collector: &'a Collector,
    rules: Rules<'a>,
    batches: Vec<WindowSketches>,
    /// The windows that are kept, in the order of the references: the final number of the first window, the index of
    /// the batch, and the range of windows in it.
    stretches: Vec<(u32, usize, Range<usize>)>,
    windows: usize,
    stream: Stream,
    /// The number of features of each window in the current sections.
    found: DeviceBuffer<u32>,
    /// The number of features before each window in the current sections.
    offsets: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
}

/// The position of the tables of a group of a part, in the words of a [`Made`].
#[derive(Clone, Debug)]
pub(crate) struct GroupRange {
    pub(crate) part: usize,
    pub(crate) words: Range<usize>,
    pub(crate) sections: Vec<SectionEntry>,
}

/// Tables in device memory, as in the file.
pub(crate) struct Made {
    /// The groups in ascending order, each with its parts in ascending order.
    pub(crate) groups: Vec<GroupRange>,
    pub(crate) words: DeviceBuffer<u64>,
    /// The positions of the sections of each part, for queries.
    places: Vec<Vec<SectionPlace>>,
    pub(crate) counts: Counts,
}

impl<'a> DeviceLayout<'a> {
    /// Prepares the sketches; `numbering` gives the final numbers of windows.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    pub(crate) fn new(
        collector: &'a Collector,
        batches: Vec<WindowSketches>,
        rules: Rules<'a>,
        numbering: &Numbering,
    ) -> Result<DeviceLayout<'a>, Error> {
        let device = collector.home();
        let mut stretches = Vec::new();
        for (at, batch) in batches.iter().enumerate() {
            let own = numbering.stretches(batch.first..batch.first + batch.windows() as u32);
            stretches.extend(own.into_iter().map(|(number, windows)| (number, at, windows)));
        }
        stretches.sort_unstable_by_key(|stretch| stretch.0);
        let windows = stretches.iter().map(|(.., windows)| windows.len()).sum();
        let scratch = primitives::exclusive_scan_scratch::<u32>(device, windows + 1)?;
        Ok(DeviceLayout {
            collector,
            rules,
            batches,
            stretches,
            windows,
            stream: device.stream()?,
            found: device.alloc(windows + 1)?,
            offsets: device.alloc(windows + 1)?,
            scratch: device.alloc(scratch)?,
        })
    }

    fn packing(&self) -> Packing {
        Packing::of(self.collector.params().k)
    }

    /// Makes the tables of whole groups of sections, as many as fit into device memory, starting at section `first`.
    /// Returns the tables and the section after them.
    ///
    /// # Errors
    /// If the device fails, or has too little memory for a single group.
    pub(crate) fn make(&mut self, first: usize) -> Result<(Made, usize), Error> {
        let device = self.collector.home().clone();
        let mut end = SECTIONS;
        loop {
            let sections = first..end;
            let entries = self.count(&sections)?;
            let (available, needed) = (device.available()?, self.needed(entries, &sections)?);
            if needed <= available {
                return Ok((self.make_all(&sections, entries)?, end));
            }
            if end - first <= GROUP {
                let (ordinal, what) = (device.ordinal(), "the tables of a group");
                return Err(too_little_memory(ordinal, what, available, needed));
            }
            // Features are distributed evenly except for a few frequent ones.
            let share = available as f64 / needed as f64 * 0.95;
            let fewer = ((end - first) as f64 * share) as usize / GROUP * GROUP;
            end = first + fewer.clamp(GROUP, end - first - GROUP);
        }
    }

    /// Returns the maximum bytes of device memory for making and holding the tables of `entries` entries.
    fn needed(&self, entries: usize, sections: &Range<usize>) -> Result<u64, Error> {
        let (device, packing) = (self.collector.home(), self.packing());
        let scratch = sort_scratch(device, packing, entries)?;
        let parts = self.rules.parts() as u64;
        // Each feature of a part takes at most a slot of 8 bytes and a quarter, and each location in a list 4 bytes
        // plus at most half of the list's length. An empty section has two slots; sizes and positions are kept for
        // each section.
        let tables = 10 * entries as u64 + sections.len() as u64 * (64 * parts + 64);
        let both = 2 * 8 * entry_words(packing, entries) as u64;
        Ok(both + scratch as u64 + tables + 8192)
    }

    /// Counts the features within sections, window by window. Returns their sum.
    fn count(&mut self, sections: &Range<usize>) -> Result<usize, Error> {
        let (stream, params) = (&self.stream, self.collector.params());
        let mut first = 0;
        for (_, batch, windows) in &self.stretches {
            let found = self.found.slice_mut(first..first + windows.len());
            let sketches = self.batches[*batch].sketches(params, windows.clone());
            sketches.count(stream, sections, found)?;
            first += windows.len();
        }
        stream.fill(self.found.slice_mut(first..), 0)?;
        let (found, offsets) = (self.found.view(), self.offsets.view_mut());
        primitives::exclusive_scan::<u32>(stream, found, offsets, self.scratch.view_mut())?;
        let sum = stream.download_vec(self.offsets.slice(self.windows..))?;
        Ok(sum[0] as usize)
    }

    fn make_all(&self, sections: &Range<usize>, entries: usize) -> Result<Made, Error> {
        let (device, stream, packing) = (self.collector.home(), &self.stream, self.packing());
        let words = entry_words(packing, entries);
        let mut both = [device.alloc::<u64>(words)?, device.alloc::<u64>(words)?];
        self.gather(sections, &mut halves(packing, both[0].view_mut(), entries))?;
        let place = self.sort(&mut both, entries)?;
        if place == 1 {
            both.swap(0, 1);
        }
        let [sorted, other] = &mut both;
        let sorted = halves(packing, sorted.view_mut(), entries);
        let (keys, locations) = (sorted.keys.as_slice(), sorted.locations.as_slice());
        let mut bounds = device.alloc(sections.len() + 1)?;
        let mut counts = device.alloc(2 * sections.len())?;
        let (run_counts, location_counts) = counts.view_mut().split_at_mut(sections.len());
        // Runs replace the keys in the other buffer, or all of it if keys are narrow.
        let (runs, rest) = other.view_mut().split_at_mut(entries);
        let mut kept = match packing {
            Packing::Narrow => None,
            Packing::Wide => Some(rest.cast::<u32>()),
        };
        let mut runs = Runs { bounds: bounds.view_mut(), runs, run_counts, location_counts };
        let sorted = Sorted { packing, keys, locations, sections: sections.clone() };
        let kept_now = kept.as_mut().map(DeviceSliceMut::reborrow);
        kernels::find_runs(stream, &sorted, &mut runs, kept_now)?;
        let locations = kept.as_ref().map_or(locations, DeviceSliceMut::as_slice);
        self.lay_out(sections, runs, locations)
    }

    /// Gathers the entries of the sections in the order of the reference.
    fn gather(&self, sections: &Range<usize>, entries: &mut EntriesMut<'_>) -> Result<(), Error> {
        let mut first = 0;
        for (number, batch, windows) in &self.stretches {
            let offsets = self.offsets.slice(first..first + windows.len());
            let batch = &self.batches[*batch];
            let sketches = batch.sketches(self.collector.params(), windows.clone());
            sketches.gather(&self.stream, sections, *number, offsets, entries)?;
            first += windows.len();
        }
        Ok(())
    }

    /// Sorts the entries of the first buffer by feature. Returns the index of the buffer that has the result.
    fn sort(&self, both: &mut [DeviceBuffer<u64>; 2], entries: usize) -> Result<usize, Error> {
        let (device, stream, packing) = (self.collector.home(), &self.stream, self.packing());
        let mut scratch = device.alloc(sort_scratch(device, packing, entries)?)?;
        let [first, second] = both;
        let first = halves(packing, first.view_mut(), entries);
        let second = halves(packing, second.view_mut(), entries);
        let locations = [first.locations, second.locations];
        let (bits, scratch) = (0..packing.bits(), scratch.view_mut());
        let place = match packing {
            Packing::Narrow => {
                let keys = [first.keys.cast::<u32>(), second.keys.cast::<u32>()];
                primitives::sort_pairs(stream, keys, locations, bits, scratch)
            }
            Packing::Wide => {
                let keys = [first.keys.cast::<u64>(), second.keys.cast::<u64>()];
                primitives::sort_pairs(stream, keys, locations, bits, scratch)
            }
        };
        Ok(place?)
    }

    fn lay_out(
        &self,
        sections: &Range<usize>,
        mut runs: Runs<'_>,
        locations: DeviceSlice<'_, u32>,
    ) -> Result<Made, Error> {
        let (device, stream) = (self.collector.home(), &self.stream);
        let (parts, count) = (self.rules.parts(), sections.len());
        let mut sizes: DeviceBuffer<SectionSize> = device.alloc(parts * count)?;
        let mut counts: DeviceBuffer<SectionCounts> = device.alloc(count)?;
        let mut layout = PartLayout {
            runs: &mut runs,
            locations,
            sections: count,
            most: self.rules.most,
            drop_overfull: self.rules.drop_overfull,
            windows: 0..0,
        };
        for part in 0..parts {
            layout.windows = self.rules.windows(part);
            let sizes = sizes.slice_mut(part * count..(part + 1) * count);
            layout.measure(stream, sizes, (part == 0).then(|| counts.view_mut()))?;
        }
        let plan = Plan::new(&stream.download_vec(sizes.view())?, sections, parts);
        let counts = sum(&stream.download_vec(counts.view())?);
        let mut words = device.alloc(plan.words.max(1))?;
        stream.fill(words.view_mut(), 0xff)?;
        let mut places = device.alloc(count)?;
        for part in 0..parts {
            layout.windows = self.rules.windows(part);
            stream.upload_now(&plan.places(part), places.view_mut())?;
            let sizes = sizes.slice(part * count..(part + 1) * count);
            layout.lay_out(stream, sizes, places.view(), words.view_mut())?;
        }
        stream.synchronize()?;
        Ok(Made { groups: plan.groups, words, places: plan.all, counts })
    }
}

/// Returns the number of words of a buffer for entries: packed features, then locations.
fn entry_words(packing: Packing, entries: usize) -> usize {
    match packing {
        Packing::Narrow => entries,
        Packing::Wide => entries + entries.div_ceil(2),
    }
}

fn halves(packing: Packing, words: DeviceSliceMut<'_, u64>, entries: usize) -> EntriesMut<'_> {
    let (keys, locations) = words.cast::<u8>().split_at_mut(entries * packing.bytes());
    EntriesMut { keys, locations: locations.slice_mut(..4 * entries).cast() }
}

fn sort_scratch(device: &Device, packing: Packing, entries: usize) -> Result<usize, Error> {
    let bits = 0..packing.bits();
    Ok(match packing {
        Packing::Narrow => primitives::sort_pairs_scratch::<u32>(device, entries, bits)?,
        Packing::Wide => primitives::sort_pairs_scratch::<u64>(device, entries, bits)?,
    })
}

fn sum(sections: &[SectionCounts]) -> Counts {
    let mut all = Counts::default();
    for own in sections {
        let [features, locations, overfull, dropped] = own.map(u64::from);
        all.add(Counts { features, locations, overfull, dropped });
    }
    all
}

/// The positions of all sections.
struct Plan {
    groups: Vec<GroupRange>,
    /// The positions of the sections of each part.
    all: Vec<Vec<SectionPlace>>,
    words: usize,
}

impl Plan {
    /// Plans positions for sections with these sizes, given part by part.
    fn new(sizes: &[SectionSize], sections: &Range<usize>, parts: usize) -> Plan {
        let mut plan = Plan { groups: Vec::new(), all: vec![Vec::new(); parts], words: 0 };
        for group in (0..sections.len()).step_by(GROUP) {
            for part in 0..parts {
                let start = plan.words;
                let mut entries = Vec::with_capacity(GROUP);
                for size in &sizes[part * sections.len()..][group..group + GROUP] {
                    let [slot_count, ideal, items, _] = *size;
                    let slots = plan.words as u64;
                    let lists = slots + u64::from(slot_count);
                    let end = lists + u64::from(items).div_ceil(2);
                    let counts = u64::from(slot_count) | u64::from(ideal) << 32;
                    // Queries see an even number of list items, as in the file.
                    plan.all[part].push([slots, lists, 2 * (end - lists), counts]);
                    let from = |word: u64| word - start as u64;
                    let (slots, lists, ideal) = (from(slots), from(lists), u64::from(ideal));
                    entries.push(SectionEntry { slots, lists, end: from(end), ideal });
                    plan.words = end as usize;
                }
                plan.groups.push(GroupRange { part, words: start..plan.words, sections: entries });
            }
        }
        plan
    }

    fn places(&self, part: usize) -> Vec<SectionWords> {
        self.all[part].iter().map(|place| [place[0], place[1]]).collect()
    }
}

/// The tables of a whole database, kept on the device that made them.
pub(crate) struct Resident {
    pub(super) device: Device,
    words: Arc<DeviceBuffer<u64>>,
    pub(super) parts: Vec<DeviceTable>,
    groups: Vec<GroupRange>,
}

impl std::fmt::Debug for Resident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resident").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Resident {
    /// Keeps the tables of all sections.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub(crate) fn new(made: Made) -> Result<Resident, Error> {
        let device = made.words.device().clone();
        let words = Arc::new(made.words);
        let parts = made.places.iter().map(|places| DeviceTable::at(&words, places));
        Ok(Resident { parts: parts.collect::<Result<_, _>>()?, device, words, groups: made.groups })
    }
}

impl RemoteTables for Resident {
    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    fn download(&self) -> Result<Vec<GroupTables>, Error> {
        let stream = self.device.stream()?;
        let bring = |group: &GroupRange| {
            let data = stream.download_vec(self.words.slice(group.words.clone()))?;
            Ok(GroupTables { data, sections: group.sections.clone() })
        };
        self.groups.iter().map(bring).collect()
    }
}

impl Made {
    /// Copies the tables to their positions in a file, on up to `threads` threads.
    ///
    /// # Errors
    /// If the device or writing fails, or if cancelled.
    pub(crate) fn write(
        &self,
        collector: &Collector,
        writer: &Writer,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let place = |group: &GroupRange| {
            writer.place(group.part, group.words.len() as u64, &group.sections)
        };
        let places: Vec<TablePlace> = self.groups.iter().map(place).collect();
        each(threads, 0..places.len(), cancel, |groups| {
            let mut workspace = collector.home_workspace()?;
            let Workspace { stream, letters: buffer, .. } = &mut *workspace;
            for (group, &place) in groups.map(|at| (&self.groups[at], &places[at])) {
                let mut checksum = crc32fast::Hasher::new();
                let words = self.words.slice(group.words.clone());
                for start in (0..words.len()).step_by(buffer.len() / 8) {
                    let end = words.len().min(start + buffer.len() / 8);
                    let bytes = words.slice(start..end).cast::<u8>();
                    stream.download(bytes, buffer, 0)?;
                    let bytes = &buffer.as_slice()?[..bytes.len()];
                    checksum.update(bytes);
                    writer.write(place, 8 * start as u64, bytes)?;
                }
                writer.check(place, checksum.finalize());
            }
            Ok(())
        })
        .map(drop)
    }

    /// Copies the tables to the host, by group, then part.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn download(self) -> Result<Vec<GroupTables>, Error> {
        Resident::new(self)?.download()
    }
}
