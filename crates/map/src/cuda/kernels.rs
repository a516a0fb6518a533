//! Wrappers of the CUDA launchers, which are the only foreign functions of this crate.
#![allow(unsafe_code, reason = "foreign functions")]

use merganser_gpu::{RawStream, Result, Stream};

/// A read on one strand, as `query` of `cuda/task.cuh`: the index of its first word, the number of bases, the number
/// of ambiguous letters, and the maximum number of edits.
pub(super) type QueryEntry = [u32; 4];
/// A `window` or a `seed` of `cuda/task.cuh`, as four words of 32 bits.
pub(super) type Four = [u32; 4];

/// The counters of `cuda/task.cuh` that the host reads or resets. Numbers 5 and 7 are used only by the device.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counter {
    Candidates = 0,
    Rejected = 1,
    Verified = 2,
    Ends = 3,
    Hits = 4,
    /// The number of windows that are narrow enough for one lane (a band of up to 32 diagonals). This counter and
    /// all that follow are reset for each slice.
    Plain = 6,
    /// The number of keys: after [`expand_slice`], those of the slice; after [`reject`], those that were kept. It
    /// is the last counter.
    Kept = 8,
}

impl Counter {
    /// The number of counters.
    pub(super) const COUNT: usize = Counter::Kept as usize + 1;
}

merganser_gpu::shared! {
    /// The input of a stage; its fields are documented in `cuda/task.cuh`.
    pub(super) struct Task = "mgpu::map::task" {
        pub(super) planes: *const u64,
        pub(super) positions: *const u32,
        pub(super) table: *const u32,
        pub(super) contigs: *const [u32; 2],
        pub(super) gaps: *const [u32; 2],
        pub(super) words: *const u64,
        pub(super) queries: *const QueryEntry,
        pub(super) slots: *const u32,
        pub(super) extended: *const u64,
        pub(super) extended_at: *const u32,
        pub(super) seeds: *mut Four,
        pub(super) seed_counts: *mut u32,
        pub(super) offsets: *mut u64,
        pub(super) query_offsets: *mut u64,
        pub(super) to_improve: *mut u32,
        pub(super) keys: *mut u64,
        pub(super) windows: *mut Four,
        pub(super) good_ends: *mut u64,
        pub(super) states: *mut u8,
        pub(super) found_hits: *mut u64,
        pub(super) scripts: *mut u16,
        pub(super) counts: *mut u64,
        pub(super) scratch: *mut u32,
        pub(super) scratch_bytes: u64,
        pub(super) window_room: u64,
        pub(super) end_room: u64,
        pub(super) stride: u32,
        pub(super) has_others: u32,
        pub(super) position_count: u32,
        pub(super) contig_count: u32,
        pub(super) text_end: u32,
        pub(super) k: u32,
        pub(super) gap_count: u32,
        pub(super) query_count: u32,
        pub(super) slot_count: u32,
        pub(super) max_seeds: u32,
        pub(super) longest: u32,
        pub(super) cheap: u32,
        pub(super) most: u32,
        pub(super) bias: u32,
        pub(super) diagonal_bits: u32,
        pub(super) position_bits: u32,
        pub(super) edit_bits: u32,
        pub(super) hamming: u32,
        pub(super) others_match: u32,
        pub(super) in_lanes: u32,
        pub(super) rule: u32,
        pub(super) margin: u32,
        pub(super) base: u64,
        pub(super) items: u64,
        pub(super) first_query: u32,
        pub(super) last_query: u32,
        pub(super) part_query: u32,
        pub(super) part_end: u32,
        pub(super) slice_from: u64,
        pub(super) slice_to: u64,
    }

    /// The input of a stage of building an index; its fields are documented in `cuda/build.cuh`.
    pub(super) struct BuildTask = "mgpu::map::build_task" {
        pub(super) planes: *const u64,
        pub(super) pieces: *const [u32; 2],
        pub(super) counts: *mut u32,
        pub(super) offsets: *const u64,
        pub(super) keys: *mut u64,
        pub(super) positions: *mut u32,
        pub(super) table: *mut u32,
        pub(super) items: u64,
        pub(super) stride: u32,
        pub(super) piece_count: u32,
        pub(super) first_part: u32,
        pub(super) last_part: u32,
        pub(super) k: u32,
        pub(super) first_kmer: u32,
        pub(super) last_kmer: u32,
        pub(super) base: u32,
    }
}

impl Task {
    /// Returns a task with null pointers and zeros.
    pub(super) fn empty() -> Task {
        // SAFETY: its members are numbers and nullable pointers, for which zero is valid.
        unsafe { std::mem::zeroed() }
    }
}

// SAFETY: the pointers are addresses in device memory, which only the device dereferences.
unsafe impl Send for Task {}
// SAFETY: as above.
unsafe impl Sync for Task {}

merganser_gpu::foreign! {
    fn merganser_map_counters(counters: *mut u32);
    fn merganser_map_look_up(task: *const Task, stream: RawStream);
    fn merganser_map_improve_room(task: *const Task, room: *mut u32);
    fn merganser_map_improve(task: *const Task, round: u32, stream: RawStream);
    fn merganser_map_gather(task: *const Task, stream: RawStream);
    fn merganser_map_expand(task: *const Task, stream: RawStream);
    fn merganser_map_expand_slice(task: *const Task, stream: RawStream);
    fn merganser_map_reject(task: *const Task, stream: RawStream);
    fn merganser_map_merge(task: *const Task, stream: RawStream);
    fn merganser_map_gaps(task: *const Task, stream: RawStream);
    fn merganser_map_lanes(task: *const Task, most: u64, stream: RawStream);
    fn merganser_map_scan(task: *const Task, most: u64, stream: RawStream);
    fn merganser_map_silence(task: *const Task, stream: RawStream);
    fn merganser_map_trace(task: *const Task, first: u64, width: u32, stream: RawStream);
    fn merganser_map_trace_gaps(
        task: *const Task, first: u64, width: u32, most: u32, stream: RawStream
    );
    fn merganser_map_count_positions(task: *const BuildTask, stream: RawStream);
    fn merganser_map_take_positions(task: *const BuildTask, stream: RawStream);
    fn merganser_map_table(task: *const BuildTask, stream: RawStream);
}

/// Defines functions that launch the stages of a [`Task`] or [`BuildTask`].
macro_rules! stages {
    ($($(#[$meta:meta])* $name:ident($task:ty $(, $arg:ident: $T:ty)*) = $foreign:ident, $doing:literal;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Each pointer of the task must point to memory on the stream's device that is at least as large as the
        /// task's numbers of items require. The memory must live until the stream has completed this stage, and
        /// nothing else may use it meanwhile.
        pub(super) unsafe fn $name(stream: &Stream, task: &$task $(, $arg: $T)*) -> Result<()> {
            // SAFETY: guaranteed by this function's contract; the call copies the task itself.
            stream.launch($doing, |raw| unsafe { $foreign(task $(, $arg)*, raw) })
        }
    )*};
}

stages! {
    /// Looks up the seeds of all queries, each divided into equal stretches, and lists the queries whose seeds
    /// occur too often.
    look_up(Task) = merganser_map_look_up, "looking up seeds";
    /// Divides the listed queries of a round again, into the seeds that have the fewest occurrences.
    improve(Task, round: u32) = merganser_map_improve, "choosing seeds";
    /// Computes, for each query, the number of occurrences of the seeds of all queries before it.
    gather(Task) = merganser_map_gather, "counting occurrences";
    /// Writes a key (query and diagonal) for each occurrence of the current queries' seeds.
    expand(Task) = merganser_map_expand, "listing candidates";
    /// Writes the keys of the current query's occurrences that are in the current slice of the reference.
    expand_slice(Task) = merganser_map_expand_slice, "listing candidates";
    /// Writes the keys to the memory of the windows, with a marker in place of repeated ones and of those that
    /// the filter's rule rejects.
    reject(Task) = merganser_map_reject, "filtering candidates";
    /// Merges neighbouring keys into windows.
    merge(Task) = merganser_map_merge, "merging candidates";
    /// Appends a window around each run of ambiguous letters in the reference, if such letters match everything.
    gaps(Task) = merganser_map_gaps, "listing windows around ambiguous letters";
    /// Verifies the windows that fit into a lane (a band of up to 32 diagonals); there are at most `most`.
    lanes(Task, most: u64) = merganser_map_lanes, "verifying windows in lanes";
    /// Verifies all other windows; there are at most `most`.
    scan(Task, most: u64) = merganser_map_scan, "scanning windows";
    /// Selects the hits among the sorted good ends, which have at most the allowed number of edits: a good end is
    /// a hit unless a better one near it suppresses it.
    silence(Task) = merganser_map_silence, "choosing hits";
    /// Writes the edit scripts of those sorted hits that have no gaps, from hit `first` on, with `width` entries
    /// each.
    trace(Task, first: u64, width: u32) = merganser_map_trace, "tracing alignments";
    /// Writes the edit scripts of the remaining hits, which have gaps and up to `most` edits.
    trace_gaps(Task, first: u64, width: u32, most: u32) = merganser_map_trace_gaps,
        "tracing alignments with gaps";
    /// Counts, for each piece of the reference, the positions that belong to the task's parts of the index.
    count_positions(BuildTask) = merganser_map_count_positions, "counting positions";
    /// Writes the positions that [`count_positions`] counted, with their keys.
    take_positions(BuildTask) = merganser_map_take_positions, "listing positions";
    /// Fills in the table that gives, for each k-mer, the index of its first position.
    table(BuildTask) = merganser_map_table, "making the table of k-mers";
}

/// Returns the number of queries that a round of [`improve`] processes.
pub(super) fn improve_room(stream: &Stream, task: &Task) -> Result<u32> {
    let mut room = 0;
    // SAFETY: the task is only read, and the pointer is to a local.
    stream.launch("choosing seeds", |_| unsafe { merganser_map_improve_room(task, &mut room) })?;
    Ok(room)
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_counters_as_in_cpp() {
        let mut counters = 0;
        // SAFETY: the pointer is to a local.
        let status = unsafe { merganser_map_counters(&mut counters) };
        assert_eq!((status, counters as usize), (0, Counter::COUNT));
    }
}
