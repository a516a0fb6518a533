//! The stages of a workspace's task, each after a look at whether the task stays within its buffers.
//! The only unsafe code of workspaces.
#![allow(unsafe_code, reason = "stages read and write where the task points to")]

use merganser_gpu::Result;

use super::super::kernels;
use super::Workspace;

/// Stages that work on the `items` of the task, of which there is room for so many.
macro_rules! stages {
    ($($(#[$meta:meta])* $name:ident($room:ident $(, $arg:ident: $T:ty)*);)*) => {
        impl Workspace {$(
            $(#[$meta])*
            pub(super) fn $name(&self $(, $arg: $T)*) -> Result<()> {
                self.check(self.$room());
                // SAFETY: the task points to this workspace's and its index's buffers, which are longer
                // than its numbers, and whatever follows goes through the workspace's own stream.
                unsafe { kernels::$name(&self.stream, &self.task $(, $arg)*) }
            }
        )*}
    };
}

stages! {
    /// The positions of all seeds of an equal division.
    look_up(unbounded);
    /// Better divisions for the queries of a round.
    improve(unbounded, round: u32);
    /// The occurrences before each query.
    gather(unbounded);
    /// Keys of the part under way.
    expand(key_room);
    /// Those of a slice of it, as many as there is room for.
    expand_slice(unbounded);
    /// Candidates that a rule of the filter lets pass, in the memory of windows.
    reject(key_room);
    /// Windows of neighbouring keys.
    merge(key_room);
    /// Windows at stretches that match everything, behind those of the keys.
    gaps(unbounded);
    /// Good ends of at most so many windows for lanes.
    lanes(unbounded, most: u64);
    /// Good ends of at most so many other windows.
    scan(unbounded, most: u64);
    /// Hits among the sorted ends.
    silence(end_room);
}

impl Workspace {
    /// How many queries a round of [`Workspace::improve`] takes.
    pub(super) fn improve_room(&self) -> Result<u32> {
        kernels::improve_room(&self.stream, &self.task)
    }

    /// Scripts of sorted hits from number `first` on, as many as the task's items, of `width` entries.
    pub(super) fn trace_scripts(&self, first: usize, width: usize) -> Result<()> {
        self.check(self.scripts.len() / width.max(1));
        let behind = first as u64 + self.task.items;
        assert!(behind <= self.keys[0].len() as u64, "hits beyond their memory");
        // SAFETY: as above; hits are in one of the two buffers of keys, which are of one size.
        unsafe {
            kernels::trace(&self.stream, &self.task, first as u64, width as u32)?;
            let most = self.max_edits as u32;
            kernels::trace_gaps(&self.stream, &self.task, first as u64, width as u32, most)
        }
    }

    /// Keys and windows that there is room for.
    fn key_room(&self) -> usize {
        self.sizes.keys
    }

    /// Ends and hits that there is room for.
    fn end_room(&self) -> usize {
        self.sizes.ends.min(self.sizes.keys)
    }

    /// The room of stages that keep no items, or look at them where they are.
    fn unbounded(&self) -> usize {
        usize::MAX
    }

    /// Asserts that what the task tells the kernels is within the workspace's buffers, with room for
    /// so many items: a mistake in the host's arithmetic ends here, not in another buffer. Kernels
    /// themselves hold what they append against `window_room` and `end_room`.
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
