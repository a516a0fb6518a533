//! A stream with its buffers: a batch's queries are looked up together, and their hits found part by
//! part, as much at a time as there is room for.

mod buffers;
mod stages;
mod task;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use merganser_gpu::{DeviceBuffer, Event, PinnedBuffer, Result as GpuResult, Stream, primitives};

use merganser_run::Cancel;

use super::index::DeviceIndex;
use super::kernels::{Counter, Four, Query, Task};
use crate::Config;
use crate::candidates;
use crate::hits::{Hit, NO_SCRIPT};
use crate::prefilter;
use crate::queries::Queries;
use buffers::{Input, grow};
use task::task;

/// How much a workspace can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Occurrences, candidates or windows.
    pub(super) keys: usize,
    /// Good ends.
    pub(super) ends: usize,
}

/// The least memory for improving seeds, in words of 16 bytes.
const LEAST_SCRATCH: usize = 1 << 16;
/// Hits that are traced and copied at a time.
const HITS: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// The longest read, and the most edits, that a device takes: `scan_kernel` of `cuda/verify.cuh` and
/// `most_edits` of `cuda/seeds.cuh`.
pub(super) const LONGEST: usize = 1024;
pub(super) const MOST_EDITS: usize = 127;
/// The most edits of a script: `most_edits_traced` of `cuda/trace.cuh`.
const MOST_TRACED: usize = 15;
/// The first entry of a script that is left to the host.
const LEFT_TO_HOST: u16 = u16::MAX;
/// What grows with the batches, about.
const INPUTS: u64 = 24 << 20;

impl Sizes {
    /// The bytes of device memory that a workspace of this size takes.
    pub(super) fn bytes(self) -> u64 {
        let scratch = 16 * self.keys.max(LEAST_SCRATCH);
        let sorted = 2 * 8 * (self.keys + self.ends);
        (scratch + sorted + self.ends + 2 * MOST_TRACED * HITS) as u64 + INPUTS
    }
}

/// How long a device took, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimes {
    /// Choosing and looking up seeds.
    pub seeding: Duration,
    /// Listing, sorting, filtering and merging candidates.
    pub candidates: Duration,
    /// Good ends.
    pub verification: Duration,
    /// Hits and their alignments, and copying them.
    pub hits: Duration,
}

impl DeviceTimes {
    pub(crate) fn add(&mut self, other: &DeviceTimes) {
        self.seeding += other.seeding;
        self.candidates += other.candidates;
        self.verification += other.verification;
        self.hits += other.hits;
    }
}

/// What a device counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) candidates: u64,
    pub(super) rejected: u64,
    pub(super) verified: u64,
}

/// The batch as it is put together for the device.
#[derive(Debug, Default)]
struct Loading {
    queries: Vec<Query>,
    slots: Vec<u32>,
    extended: Vec<u64>,
    extended_at: Vec<u32>,
    letters: Vec<u8>,
}

/// A stream with its buffers.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) index: Arc<DeviceIndex>,
    sizes: Sizes,
    loading: Loading,
    words: Input<u64>,
    queries: Input<Query>,
    slots: Input<u32>,
    extended: Input<u64>,
    extended_at: Input<u32>,
    seeds: DeviceBuffer<Four>,
    seed_counts: DeviceBuffer<u32>,
    offsets: DeviceBuffer<u64>,
    query_offsets: DeviceBuffer<u64>,
    offsets_here: Vec<u64>,
    to_improve: DeviceBuffer<u32>,
    keys: [DeviceBuffer<u64>; 2],
    windows: DeviceBuffer<Four>,
    ends: [DeviceBuffer<u64>; 2],
    states: DeviceBuffer<u8>,
    scripts: DeviceBuffer<u16>,
    counts: DeviceBuffer<u64>,
    counts_here: PinnedBuffer<u64>,
    hits_here: PinnedBuffer<u64>,
    scripts_here: PinnedBuffer<u16>,
    scratch: DeviceBuffer<u8>,
    task: Task,
    most_edits: usize,
    events: [Event; 4],
    pub(super) times: DeviceTimes,
    /// The last, so that it is destroyed after what its work uses.
    stream: Stream,
}

/// Hits of some reads, in the order of the reads and of their hits.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Reads within the part, and their hits.
    pub(super) hits: Vec<(u32, Hit)>,
    pub(crate) scripts: Vec<u16>,
    /// Entries of each script.
    pub(crate) width: usize,
}

impl Workspace {
    pub(super) fn new(
        index: &Arc<DeviceIndex>,
        config: &Config,
        sizes: Sizes,
    ) -> GpuResult<Workspace> {
        let device = &index.device;
        let stream = device.stream()?;
        let [keys, ends] = [sizes.keys, sizes.ends];
        let hits = HITS.min(ends);
        let scratch = primitives::sort_keys_scratch::<u64>(device, keys.max(ends), 0..64)?;
        Ok(Workspace {
            index: Arc::clone(index),
            sizes,
            loading: Loading::default(),
            words: Input::new(&stream)?,
            queries: Input::new(&stream)?,
            slots: Input::new(&stream)?,
            extended: Input::new(&stream)?,
            extended_at: Input::new(&stream)?,
            seeds: device.alloc(0)?,
            seed_counts: device.alloc(0)?,
            offsets: device.alloc(0)?,
            query_offsets: device.alloc(0)?,
            offsets_here: Vec::new(),
            to_improve: device.alloc(0)?,
            keys: [device.alloc(keys)?, device.alloc(keys)?],
            windows: device.alloc(keys.max(LEAST_SCRATCH))?,
            ends: [device.alloc(ends)?, device.alloc(ends)?],
            states: device.alloc(ends)?,
            scripts: device.alloc(hits * MOST_TRACED)?,
            counts: device.alloc(Counter::COUNT)?,
            counts_here: device.alloc_pinned(Counter::COUNT)?,
            hits_here: device.alloc_pinned(hits)?,
            scripts_here: device.alloc_pinned(hits * MOST_TRACED)?,
            scratch: device.alloc(scratch)?,
            task: task(index, config, sizes),
            most_edits: 0,
            events: [
                device.timing_event()?,
                device.timing_event()?,
                device.timing_event()?,
                device.timing_event()?,
            ],
            times: DeviceTimes::default(),
            stream,
        })
    }

    /// Takes up a batch: chooses the seeds of those of its queries for which `seeds` says how many
    /// they have.
    pub(super) fn load(
        &mut self,
        queries: &Queries,
        count: usize,
        seeds: impl Fn(usize) -> usize,
    ) -> GpuResult<()> {
        self.collect(queries, count, seeds);
        let Workspace { loading, stream, .. } = self;
        self.words.load(stream, queries.words())?;
        self.queries.load(stream, &loading.queries)?;
        self.slots.load(stream, &loading.slots)?;
        if self.task.rule > 0 {
            self.extended.load(stream, &loading.extended)?;
            self.extended_at.load(stream, &loading.extended_at)?;
        }
        let slots = loading.slots[count] as usize;
        grow(stream, &mut self.seeds, slots + 1)?;
        grow(stream, &mut self.seed_counts, slots + 1)?;
        grow(stream, &mut self.offsets, slots + 1)?;
        grow(stream, &mut self.query_offsets, count + 1)?;
        grow(stream, &mut self.to_improve, count)?;
        let device = stream.device();
        let scan = primitives::exclusive_scan_u32_scratch(device, slots + 1)?;
        grow(stream, &mut self.scratch, scan)?;
        self.point(count, slots);
        self.choose(count, slots)
    }

    fn collect(&mut self, queries: &Queries, count: usize, seeds: impl Fn(usize) -> usize) {
        let Loading { queries: entries, slots, extended, extended_at, letters } = &mut self.loading;
        entries.clear();
        slots.clear();
        extended.clear();
        extended_at.clear();
        let (mut slot, mut longest, mut most_seeds) = (0, 1, 1);
        for number in 0..count {
            let (query, at) = (queries.get(number), queries.word(number));
            let own = seeds(number);
            let [len, unknown, edits] =
                [query.len, query.unknown, query.edits].map(|value| value as u32);
            entries.push([at as u32, len, unknown, edits]);
            slots.push(slot);
            slot += own as u32;
            if own > 0 {
                longest = longest.max(query.len);
                most_seeds = most_seeds.max(own);
            }
            if self.task.rule > 0 {
                extended_at.push(extended.len() as u32);
                if own > 0 {
                    prefilter::extended(&query, query.edits + prefilter::MARGIN, letters);
                    prefilter::pack_letters(letters, extended);
                }
            }
        }
        slots.push(slot);
        self.most_edits = most_seeds - 1;
        (self.task.longest, self.task.most_seeds) = (longest as u32, most_seeds as u32);
        self.task.edit_bits = bits(self.most_edits as u64).max(1);
    }

    /// Lets the task point to buffers that may have moved.
    fn point(&mut self, count: usize, slots: usize) {
        let task = &mut self.task;
        task.words = self.words.there.view().as_ptr();
        task.queries = self.queries.there.view().as_ptr();
        task.slots = self.slots.there.view().as_ptr();
        task.extended = self.extended.there.view().as_ptr();
        task.extended_at = self.extended_at.there.view().as_ptr();
        task.seeds = self.seeds.view_mut().as_mut_ptr();
        task.seed_counts = self.seed_counts.view_mut().as_mut_ptr();
        task.offsets = self.offsets.view_mut().as_mut_ptr();
        task.query_offsets = self.query_offsets.view_mut().as_mut_ptr();
        task.to_improve = self.to_improve.view_mut().as_mut_ptr();
        task.windows = self.windows.view_mut().as_mut_ptr();
        task.scratch = self.windows.view_mut().cast::<u32>().as_mut_ptr();
        task.scratch_bytes = 16 * self.windows.len() as u64;
        task.states = self.states.view_mut().as_mut_ptr();
        task.scripts = self.scripts.view_mut().as_mut_ptr();
        task.counts = self.counts.view_mut().as_mut_ptr();
        (task.query_count, task.slot_count) = (count as u32, slots as u32);
        // Nothing of the batch before is under way any more.
        (task.first_query, task.last_query, task.part_query, task.part_end) = (0, 0, 0, 0);
        task.items = 0;
    }

    /// Chooses and looks up the seeds, and learns how often those of each query occur.
    fn choose(&mut self, count: usize, slots: usize) -> GpuResult<()> {
        self.stream.record(&self.events[0])?;
        self.stream.fill(self.counts.view_mut(), 0)?;
        self.look_up()?;
        let room = self.improve_room()?;
        for round in 0..self.task.query_count.div_ceil(room.max(1)) {
            self.improve(round)?;
        }
        primitives::exclusive_scan_u32(
            &self.stream,
            self.seed_counts.slice(..slots + 1),
            self.offsets.slice_mut(..slots + 1),
            self.scratch.view_mut(),
        )?;
        self.gather()?;
        self.stream.record(&self.events[1])?;
        self.offsets_here.resize(count + 1, 0);
        self.stream.download_now(self.query_offsets.slice(..count + 1), &mut self.offsets_here)?;
        self.times.seeding += self.events[0].elapsed(&self.events[1])?;
        Ok(())
    }

    /// What some queries take of a workspace's room.
    pub(super) fn load_of(&self, queries: Range<usize>) -> u64 {
        let gaps = self.index.gaps.len() * queries.len();
        self.offsets_here[queries.end] - self.offsets_here[queries.start] + gaps as u64
    }

    /// The room of a workspace, in the same measure.
    pub(super) fn room(&self) -> u64 {
        self.sizes.keys as u64
    }

    /// Finds the hits of a part of the queries, and replaces `found` by them; `None` if there is not
    /// enough room for what is found of them together, or the run is cancelled.
    pub(super) fn map(
        &mut self,
        part: Range<usize>,
        found: &mut Found,
        cancel: &Cancel,
    ) -> GpuResult<Option<Counted>> {
        found.hits.clear();
        found.scripts.clear();
        found.width = 0;
        self.stream.fill(self.counts.view_mut(), 0)?;
        (self.task.part_query, self.task.part_end) = (part.start as u32, part.end as u32);
        self.task.position_bits = bits(self.index.text_end.into());
        let mut at = part.start;
        while at < part.end {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let mut to = at + 1;
            while to < part.end && self.load_of(at..to + 1) <= self.room() {
                to += 1;
            }
            if self.load_of(at..to) <= self.room() {
                self.step(at..to, None)?;
            } else if !self.slices(at, cancel)? {
                return Ok(None);
            }
            at = to;
        }
        let counts = self.counts()?;
        let of = |counter: Counter| counts[counter as usize];
        if of(Counter::Ends) > self.sizes.ends as u64 {
            return Ok(None);
        }
        self.finish(of(Counter::Ends) as usize, part.len(), found)?;
        Ok(Some(Counted {
            candidates: of(Counter::Candidates),
            rejected: of(Counter::Rejected),
            verified: of(Counter::Verified),
        }))
    }

    /// One query with more occurrences than there is room for, slice by slice of the reference, in
    /// the slices of [`candidates::collect`]; false if one of them has too many, or the run is
    /// cancelled.
    fn slices(&mut self, query: usize, cancel: &Cancel) -> GpuResult<bool> {
        let found = self.offsets_here[query + 1] - self.offsets_here[query];
        let slices = found.div_ceil(candidates::MOST as u64);
        let room = self.room().saturating_sub(self.index.gaps.len() as u64);
        // Half full on average, since slices are not of one size.
        let mut together = (slices * room / 2 / found.max(1)).max(1);
        let end = u64::from(self.index.text_end) + 2 * candidates::BIAS as u64;
        let mut slice = 0;
        while slice < slices {
            if cancel.is_cancelled() {
                return Ok(false);
            }
            let to = slices.min(slice + together);
            let bounds = [slice * end / slices, to * end / slices];
            if self.step(query..query + 1, Some(bounds))? {
                slice = to;
            } else if together > 1 {
                together /= 2;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Good ends of some queries, all or those of a slice; false if there is not enough room.
    fn step(&mut self, queries: Range<usize>, slice: Option<[u64; 2]>) -> GpuResult<bool> {
        let occurrences = self.offsets_here[queries.end] - self.offsets_here[queries.start];
        let Workspace { stream, .. } = self;
        stream.record(&self.events[0])?;
        stream.fill(self.counts.slice_mut(Counter::Plain as usize..), 0)?;
        let task = &mut self.task;
        (task.first_query, task.last_query) = (queries.start as u32, queries.end as u32);
        task.base = self.offsets_here[queries.start];
        task.keys = self.keys[0].view_mut().as_mut_ptr();
        task.good_ends = self.ends[0].view_mut().as_mut_ptr();
        task.items = occurrences;
        if let Some([from, to]) = slice {
            (task.slice_from, task.slice_to) = (from, to);
        }
        let key_bits = task.diagonal_bits + bits(queries.len() as u64 - 1);
        let (mut items, mut gaps) = (occurrences as usize, 0);
        if items > 0 && slice.is_none() {
            self.expand()?;
        }
        if items > 0 && slice.is_some() {
            self.expand_slice()?;
            items = self.counts()?[Counter::Kept as usize] as usize;
            if items > self.sizes.keys - self.index.gaps.len() {
                return Ok(false);
            }
        }
        if items > 0 {
            self.sort_keys(items, key_bits)?;
            if self.task.rule > 0 {
                items = self.filter(items, key_bits)?;
            }
        }
        if items > 0 {
            self.merge()?;
        }
        let first = slice.is_none_or(|[from, _]| from == 0);
        if first && self.task.gap_count > 0 {
            self.gaps()?;
            gaps = self.index.gaps.len() * queries.len();
        }
        self.stream.record(&self.events[1])?;
        if items > 0 && self.task.in_lanes > 0 {
            self.lanes(items as u64)?;
        }
        if items + gaps > 0 {
            self.scan((items + gaps) as u64)?;
        }
        self.stream.record(&self.events[2])?;
        self.stream.synchronize()?;
        let [start, middle, end, _] = &self.events;
        self.times.candidates += start.elapsed(middle)?;
        self.times.verification += middle.elapsed(end)?;
        Ok(true)
    }

    /// Sorts the first keys and lets the task look at the result.
    fn sort_keys(&mut self, items: usize, key_bits: u32) -> GpuResult<()> {
        let [first, second] = &mut self.keys;
        let both = [first.slice_mut(..items), second.slice_mut(..items)];
        let bits = 0..key_bits;
        let at = primitives::sort_keys(&self.stream, both, bits, self.scratch.view_mut())?;
        self.task.keys = self.keys[at].view_mut().as_mut_ptr();
        self.task.items = items as u64;
        Ok(())
    }

    /// Leaves those keys that a rule of the filter lets pass; how many these are.
    fn filter(&mut self, items: usize, key_bits: u32) -> GpuResult<usize> {
        self.stream.fill(self.counts.slice_mut(Counter::Kept as usize..), 0)?;
        self.reject()?;
        let passed = self.windows.view().cast::<u64>().slice(..items);
        self.stream.copy(passed, self.keys[0].view_mut())?;
        // A key that is none has a one above all others' bits.
        self.sort_keys(items, key_bits + 1)?;
        let kept = self.counts()?[Counter::Kept as usize];
        self.task.items = kept;
        Ok(kept as usize)
    }

    /// Waits for the counters.
    fn counts(&mut self) -> GpuResult<[u64; Counter::COUNT]> {
        self.stream.download(self.counts.view(), &mut self.counts_here, 0)?;
        let mut counts = [0; Counter::COUNT];
        counts.copy_from_slice(self.counts_here.as_slice()?);
        Ok(counts)
    }

    /// From good ends to hits with scripts.
    fn finish(&mut self, ends: usize, queries: usize, found: &mut Found) -> GpuResult<()> {
        if ends == 0 {
            return Ok(());
        }
        let Workspace { stream, task, .. } = self;
        stream.record(&self.events[0])?;
        let [first, second] = &mut self.ends;
        let both = [first.slice_mut(..ends), second.slice_mut(..ends)];
        let of_place = task.edit_bits + task.position_bits;
        let key_bits = of_place + bits(queries as u64 - 1);
        let at = primitives::sort_keys(stream, both, 0..key_bits, self.scratch.view_mut())?;
        task.good_ends = self.ends[at].view_mut().as_mut_ptr();
        task.items = ends as u64;
        task.found_hits = self.keys[0].view_mut().as_mut_ptr();
        self.silence()?;
        let hits = self.counts()?[Counter::Hits as usize] as usize;
        let Workspace { stream, task, .. } = self;
        let [first, second] = &mut self.keys;
        let both = [first.slice_mut(..hits), second.slice_mut(..hits)];
        let key_bits = 1 + of_place + bits(queries as u64 / 2);
        let at = primitives::sort_keys(stream, both, 0..key_bits, self.scratch.view_mut())?;
        task.found_hits = self.keys[at].view_mut().as_mut_ptr();
        found.width = self.most_edits.min(MOST_TRACED);
        found.hits.reserve(hits);
        found.scripts.reserve(hits * found.width);
        let piece = self.hits_here.len();
        for from in (0..hits).step_by(piece.max(1)) {
            self.trace(at, from..hits.min(from + piece), found)?;
        }
        self.stream.record(&self.events[1])?;
        self.events[1].synchronize()?;
        self.times.hits += self.events[0].elapsed(&self.events[1])?;
        Ok(())
    }

    /// Traces some of the sorted hits, and appends them to `found`.
    fn trace(&mut self, sorted: usize, hits: Range<usize>, found: &mut Found) -> GpuResult<()> {
        let (width, entries) = (found.width, hits.len() * found.width);
        if width > 0 {
            self.task.items = hits.len() as u64;
            self.trace_scripts(hits.start, width)?;
            self.stream.download(self.scripts.slice(..entries), &mut self.scripts_here, 0)?;
        }
        self.stream.download(self.keys[sorted].slice(hits.clone()), &mut self.hits_here, 0)?;
        let before = found.scripts.len();
        found.scripts.extend_from_slice(&self.scripts_here.as_slice()?[..entries]);
        let (position_bits, edit_bits) = (self.task.position_bits, self.task.edit_bits);
        let low = |value: u64, bits: u32| (value & ((1 << bits) - 1)) as u32;
        for (i, &key) in self.hits_here.as_slice()?[..hits.len()].iter().enumerate() {
            let edits = low(key >> 1 >> position_bits, edit_bits);
            let read = (key >> 1 >> position_bits >> edit_bits) as u32;
            let at = before + i * width;
            let deferred = edits > 0 && (width == 0 || found.scripts[at] == LEFT_TO_HOST);
            let hit = Hit {
                edits,
                // To be found by the position.
                contig: 0,
                end: low(key >> 1, position_bits),
                reverse: key & 1 == 1,
                script: if deferred { NO_SCRIPT } else { at as u32 },
            };
            found.hits.push((read, hit));
        }
        Ok(())
    }
}

/// Bits of a number.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
