//! Finding the hits of a part of a batch from its seeds, as many queries at a time as fit into memory.

use std::ops::Range;

use merganser_gpu::{Result as GpuResult, primitives};
use merganser_run::Cancel;

use super::super::kernels::Counter;
use super::{LEFT_TO_HOST, MAX_TRACED, Workspace, bits};
use crate::hits::{Hit, NO_SCRIPT};
use crate::search::{BIAS, MAX_SORTED};

/// Counters of a part.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cuda) struct Counted {
    pub(in crate::cuda) candidates: u64,
    pub(in crate::cuda) rejected: u64,
    pub(in crate::cuda) verified: u64,
}

/// The hits of a part, sorted by read, then in the order of [`Hit`].
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The number of the read within the part, and the hit.
    pub(in crate::cuda) hits: Vec<(u32, Hit)>,
    pub(crate) scripts: Vec<u16>,
    /// The number of entries of each script.
    pub(crate) width: usize,
}

impl Workspace {
    /// Finds the hits of a part of the queries and replaces `found` by them. Returns `None` if there is too
    /// little room for all of them together, or if the run is cancelled.
    pub(in crate::cuda) fn map(
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

    /// Processes a query with more occurrences than there is room for, slice by slice of the reference. The
    /// slices are those of the host. Returns false if a slice has too many candidates, or if the run is
    /// cancelled.
    fn slices(&mut self, query: usize, cancel: &Cancel) -> GpuResult<bool> {
        let found = self.offsets_here[query + 1] - self.offsets_here[query];
        let slices = found.div_ceil(MAX_SORTED as u64);
        let room = self.room().saturating_sub(self.index.gaps.len() as u64);
        // Half full on average, because slices differ in size.
        let mut together = (slices * room / 2 / found.max(1)).max(1);
        let end = u64::from(self.index.text_end) + 2 * BIAS as u64;
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

    /// Finds the good ends of some queries, in the whole reference or in a slice; returns false if there is too
    /// little room.
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

    /// Sorts the first keys, and lets the task point to the result.
    fn sort_keys(&mut self, items: usize, key_bits: u32) -> GpuResult<()> {
        let [first, second] = &mut self.keys;
        let both = [first.slice_mut(..items), second.slice_mut(..items)];
        let bits = 0..key_bits;
        let at = primitives::sort_keys(&self.stream, both, bits, self.scratch.view_mut())?;
        self.task.keys = self.keys[at].view_mut().as_mut_ptr();
        self.task.items = items as u64;
        Ok(())
    }

    /// Keeps only the keys that pass a rule of the filter, and returns their number.
    fn filter(&mut self, items: usize, key_bits: u32) -> GpuResult<usize> {
        self.stream.fill(self.counts.slice_mut(Counter::Kept as usize..), 0)?;
        self.reject()?;
        let passed = self.windows.view().cast::<u64>().slice(..items);
        self.stream.copy(passed, self.keys[0].view_mut())?;
        // The marker of rejected keys has a bit above those of all other keys, so it sorts last.
        self.sort_keys(items, key_bits + 1)?;
        let kept = self.counts()?[Counter::Kept as usize];
        self.task.items = kept;
        Ok(kept as usize)
    }

    /// Downloads the counters.
    fn counts(&mut self) -> GpuResult<[u64; Counter::COUNT]> {
        self.stream.download(self.counts.view(), &mut self.counts_here, 0)?;
        let mut counts = [0; Counter::COUNT];
        counts.copy_from_slice(self.counts_here.as_slice()?);
        Ok(counts)
    }

    /// Turns good ends into hits with scripts.
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
        found.width = self.max_edits.min(MAX_TRACED);
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
                // The host derives the contig from the position.
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
