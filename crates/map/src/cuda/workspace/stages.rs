//! The stages of a workspace's task. Each one first checks that the task stays within its buffers. This is the
//! only module of workspaces with unsafe code.
#![allow(unsafe_code, reason = "stages read and write where the task points to")]

use merganser_gpu::Result;

use super::super::kernels;
use super::Workspace;

/// Defines stages that process the task's `items`, with the method that returns the room for them.
macro_rules! stages {
    ($($(#[$meta:meta])* $name:ident($room:ident $(, $arg:ident: $T:ty)*);)*) => {
        impl Workspace {$(
            $(#[$meta])*
            pub(super) fn $name(&self $(, $arg: $T)*) -> Result<()> {
                self.check(self.$room());
                // SAFETY: the task points to this workspace's and its index's buffers, whose lengths were
                // checked above or follow from its numbers, and all later work on them goes through the
                // workspace's own stream.
                unsafe { kernels::$name(&self.stream, &self.task $(, $arg)*) }
            }
        )*}
    };
}

stages! {
    /// Looks up the seeds of all queries, each divided into equal stretches, and lists the queries whose seeds
    /// occur too often.
    look_up(unbounded);
    /// Divides the listed queries of a round again, into the seeds that have the fewest occurrences.
    improve(unbounded, round: u32);
    /// Computes, for each query, the number of occurrences of the seeds of all queries before it.
    gather(unbounded);
    /// Writes a key (query and diagonal) for each occurrence of the current queries' seeds.
    expand(key_room);
    /// Writes the keys of the current query's occurrences that are in the current slice of the reference, as many
    /// as fit.
    expand_slice(unbounded);
    /// Writes the keys to the memory of the windows, with a marker in place of repeated ones and of those that
    /// the filter's rule rejects.
    reject(key_room);
    /// Merges neighbouring keys into windows.
    merge(key_room);
    /// Appends windows around runs of ambiguous letters in the reference that match everything.
    gaps(unbounded);
    /// Verifies the windows that fit into a lane (a band of up to 32 diagonals); there are at most `most`.
    lanes(unbounded, most: u64);
    /// Verifies all other windows; there are at most `most`.
    scan(unbounded, most: u64);
    /// Selects the hits among the sorted good ends: a good end suppresses worse ones near it.
    silence(end_room);
}

impl Workspace {
    /// Returns the number of queries that a round of [`Workspace::improve`] processes.
    pub(super) fn improve_room(&self) -> Result<u32> {
        kernels::improve_room(&self.stream, &self.task)
    }

    /// Writes the scripts of sorted hits from number `first` on, with `width` entries each, for the task's
    /// number of items.
    pub(super) fn trace_scripts(&self, first: usize, width: usize) -> Result<()> {
        self.check(self.scripts.len() / width.max(1));
        let behind = first as u64 + self.task.items;
        assert!(behind <= self.keys[0].len() as u64, "hits beyond their memory");
        // SAFETY: as above; hits are in one of the two buffers of keys, which have the same size.
        unsafe {
            kernels::trace(&self.stream, &self.task, first as u64, width as u32)?;
            let most = self.max_edits as u32;
            kernels::trace_gaps(&self.stream, &self.task, first as u64, width as u32, most)
        }
    }

    /// Returns the room for keys and windows.
    fn key_room(&self) -> usize {
        self.sizes.keys
    }

    /// Returns the room for ends and hits.
    fn end_room(&self) -> usize {
        self.sizes.ends.min(self.sizes.keys)
    }

    /// Returns no limit, for stages that write no items or check the room on the device.
    fn unbounded(&self) -> usize {
        usize::MAX
    }

    /// Asserts that the numbers in the task stay within the workspace's buffers, with room for this many items,
    /// so that a mistake in the host's arithmetic panics instead of writing to another buffer. Kernels that
    /// append check `window_room` and `end_room` themselves.
    fn check(&self, room: usize) {
        let task = &self.task;
        assert!(task.items <= room as u64, "{} items where there is room for {room}", task.items);
        let (queries, slots) = (task.query_count as usize, task.slot_count as usize);
        assert!(queries <= self.queries.there.len().min(self.to_improve.len()), "too many queries");
        assert!(queries < self.query_offsets.len().min(self.slots.there.len()), "too many queries");
        let of_slots = [self.seeds.len(), self.seed_counts.len(), self.offsets.len()];
        assert!(of_slots.iter().all(|&len| slots < len), "too many seeds");
        assert!(task.last_query.max(task.part_end) <= task.query_count, "queries of another batch");
    }
}
