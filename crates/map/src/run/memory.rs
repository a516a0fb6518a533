//! Division of the memory of a run.

use merganser_alignments::Sorting;
use merganser_run::{Budget, Context, Shortage};

use super::AHEAD;
use crate::index::{Index, Unsorted};
use crate::room::Room;
use crate::{Config, Error, Placements, Prefilter};

/// The bytes of text after which a worker passes it on before its batch is done, to wait for earlier batches:
/// the minimum, and the maximum if there is memory to spare.
const LONG: [usize; 2] = [1 << 20, 64 << 20];
/// Bytes of each thread for batches, candidates and waiting texts.
const THREAD: u64 = 38 << 20;
/// The minimum bytes of each thread for the hits of one read or pair.
const HITS_THREAD: u64 = 8 << 20;

/// The size of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexSize {
    /// Its bytes in memory.
    bytes: u64,
    /// The bases of all contigs.
    bases: u64,
    /// The number of contigs.
    contigs: usize,
}

impl IndexSize {
    pub(super) fn of(index: &Index) -> IndexSize {
        let (bytes, bases) = (index.bytes(), index.bases());
        IndexSize { bytes, bases, contigs: index.contigs().len() }
    }

    /// Returns the size of the index that would be built in memory.
    pub(super) fn of_unsorted(unsorted: &Unsorted<'_>) -> IndexSize {
        let table = (1 << (2 * unsorted.k)) + 1;
        IndexSize {
            bytes: unsorted.text.plane_bytes() + 4 * (unsorted.positions() + table),
            bases: unsorted.text.bases(),
            contigs: unsorted.text.contigs.len(),
        }
    }
}

/// The memory of a run by use.
pub(super) struct Memory {
    /// The bytes that are needed apart from records to sort.
    pub(super) needed: u64,
    /// The least memory of the whole run, in bytes.
    pub(super) least: u64,
    /// The bytes that are left for records to sort.
    pub(super) left: u64,
    /// The bytes that are available while sorted records are written.
    pub(super) writing: u64,
    /// The bytes of text that a worker may hold before passing it on.
    pub(super) long: usize,
    /// The room of each thread for the hits of a read or pair.
    pub(super) room: Room,
}

impl Memory {
    /// Divides the memory of a run; `paired` says whether it maps pairs. `held` are the bytes of reads that are kept
    /// until insert sizes are learned.
    ///
    /// # Errors
    /// If there is too little memory.
    pub(super) fn new(
        config: &Config,
        context: &Context,
        index: &IndexSize,
        paired: bool,
        held: u64,
    ) -> Result<Memory, Error> {
        let ruled = matches!(config.filter, Prefilter::GateKeeper | Prefilter::Snake);
        // The filter's own copy of the reference as planes, and the letters it is made from.
        let letters = if ruled { index.bases * 3 / 2 } else { 0 };
        // Threads that write sorted records no longer map.
        let writing = Budget::new(context.budget()).with_files(1).with(index.bytes + letters);
        let mapping = writing.with_workers(context.threads, THREAD + HITS_THREAD);
        let threads = context.threads as u64;
        let sorting = if config.sort { Sorting::least_memory(threads) } else { 0 };
        let what = format_args!("mapping with {threads} threads to this index needs");
        let placements = if config.placements { Placements::bytes(index.contigs) } else { 0 };
        // Those of all workers are added to another.
        let mapping = mapping.with(held).with((threads + 1) * placements);
        let least = mapping.with(sorting);
        least.check(what, Shortage::FEWER_THREADS)?;
        let left = mapping.left();
        // Hits of reads in repeats get a part; the rest is for records to sort, or for texts.
        let of_hits = if config.sort { (left - sorting) / 2 } else { left / 3 * 2 };
        let left = left - of_hits;
        let texts = 2 * (AHEAD + 1) * threads;
        // Records to sort do not wait for earlier batches.
        let most = if config.sort { LONG[0] } else { LONG[1] } as u64;
        let long = (left / texts).clamp(LONG[0] as u64, most) as usize;
        let room = Room::new(config, paired, HITS_THREAD + of_hits / threads);
        let (needed, least) = (mapping.needed(), least.needed());
        Ok(Memory { needed, least, left, writing: writing.left(), long, room })
    }

    /// Returns the memory with which no records would be spilled. Half of the memory beyond what sorting needs
    /// is for hits.
    pub(super) fn without_spill(&self, sorting: &Sorting, threads: u64) -> u64 {
        let least = Sorting::least_memory(threads);
        self.needed + least + 2 * sorting.memory_without_spill().saturating_sub(least)
    }
}
