//! Loading of a batch: copies its queries to the device, which chooses and looks up their seeds.

use merganser_gpu::{Result as GpuResult, primitives};

use super::super::kernels::QueryEntry;
use super::buffers::grow;
use super::{Workspace, bits};
use crate::prefilter;
use crate::queries::Queries;

/// A batch as it is assembled for the device.
#[derive(Debug, Default)]
pub(super) struct Loading {
    queries: Vec<QueryEntry>,
    slots: Vec<u32>,
    extended: Vec<u64>,
    extended_at: Vec<u32>,
    letters: Vec<u8>,
}

impl Workspace {
    /// Loads a batch, and chooses the seeds of its queries. `seeds` returns the number of seeds of a query; 0
    /// leaves it out.
    pub(in crate::cuda) fn load(
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
        let scan = primitives::exclusive_scan_scratch::<u32>(device, slots + 1)?;
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
        let (mut slot, mut longest, mut max_seeds) = (0, 1, 1);
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
                max_seeds = max_seeds.max(own);
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
        self.max_edits = max_seeds - 1;
        (self.task.longest, self.task.max_seeds) = (longest as u32, max_seeds as u32);
        self.task.edit_bits = bits(self.max_edits as u64).max(1);
    }

    /// Updates the pointers of the task to buffers that may have been replaced.
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
        // No work of the previous batch is in flight any more.
        (task.first_query, task.last_query, task.part_query, task.part_end) = (0, 0, 0, 0);
        task.items = 0;
    }

    /// Chooses and looks up the seeds, and downloads the number of occurrences of each query.
    fn choose(&mut self, count: usize, slots: usize) -> GpuResult<()> {
        self.stream.record(&self.events[0])?;
        self.stream.fill(self.counts.view_mut(), 0)?;
        self.look_up()?;
        let room = self.improve_room()?;
        for round in 0..self.task.query_count.div_ceil(room.max(1)) {
            self.improve(round)?;
        }
        primitives::exclusive_scan::<u32>(
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
}
