//! What the memory of a run is for.

use merganser_alignments::Sorting;
use merganser_run::{Budget, Resources, Shortage};

use super::AHEAD;
use crate::index::Index;
use crate::room::Room;
use crate::{Config, Error, Prefilter};

/// Text that is sent off before a batch is done, which waits for the batches before it: the least,
/// and the most if there is memory to spare.
const LONG: [usize; 2] = [1 << 20, 64 << 20];
/// Memory of a thread for batches, candidates and texts that wait,
const THREAD: u64 = 38 << 20;
/// and for hits of one read or pair at the least.
const HITS_THREAD: u64 = 8 << 20;

/// What the memory is for.
pub(super) struct Memory {
    /// What is needed besides records to sort.
    pub(super) needed: u64,
    /// What is left for these,
    pub(super) left: u64,
    /// and what there is to write them.
    pub(super) writing: u64,
    /// The text that a thread may hold before it sends it off.
    pub(super) long: usize,
    /// What a thread has for the hits of a read or pair.
    pub(super) room: Room,
}

impl Memory {
    /// Divides the memory of a run, which maps pairs or none.
    ///
    /// # Errors
    /// If it does not suffice.
    pub(super) fn new(
        config: &Config,
        resources: &Resources,
        index: &Index,
        paired: bool,
    ) -> Result<Memory, Error> {
        let ruled = matches!(config.filter, Prefilter::GateKeeper | Prefilter::Snake);
        // The filter's own planes, made of letters.
        let letters = if ruled { index.bases() * 3 / 2 } else { 0 };
        // Threads that write sorted records do not map any more.
        let writing = Budget::new(resources.budget()).with_files(1).with(index.bytes() + letters);
        let mapping = writing.with_workers(resources.threads, THREAD + HITS_THREAD);
        let threads = resources.threads as u64;
        let sorting = if config.sort { Sorting::least_memory(threads) } else { 0 };
        let what = format_args!("mapping with {threads} threads to this index needs");
        mapping.with(sorting).check(what, Shortage::FEWER_THREADS)?;
        let left = mapping.left();
        // For the hits of reads in repeats; the rest for records to sort, or for texts.
        let of_hits = if config.sort { (left - sorting) / 2 } else { left / 3 * 2 };
        let left = left - of_hits;
        let texts = 2 * (AHEAD + 1) * threads;
        // Records to sort do not wait for those before them.
        let most = if config.sort { LONG[0] } else { LONG[1] } as u64;
        let long = (left / texts).clamp(LONG[0] as u64, most) as usize;
        let room = Room::new(config, paired, HITS_THREAD + of_hits / threads);
        Ok(Memory { needed: mapping.needed(), left, writing: writing.left(), long, room })
    }

    /// The memory with which no records would go to disk: half of what is more than sorting needs is for hits.
    pub(super) fn without_spill(&self, sorting: &Sorting, threads: u64) -> u64 {
        let least = Sorting::least_memory(threads);
        self.needed + least + 2 * sorting.memory_without_spill().saturating_sub(least)
    }
}
