//! The memory plan of a run: the needs of every job, and those that a job adds.

use std::fmt::Display;

use crate::{Context, GpuShortage, Shortage};

/// A memory plan, in bytes: how much there is, and how much is needed.
///
/// The needs that all jobs share are defined here: those of the process, its files, its workers and its
/// devices. A job adds its own structures before work starts, and then queries [the rest](Self::left), or
/// [the error](Self::check) if there is too little. Plans of the same memory are ordered by their needs.
///
/// ```
/// use merganser_run::{Budget, Context, Shortage};
///
/// // Two workers with 16 batches of 1 MiB each.
/// let budget = Budget::of_run(&Context::new().threads(2).memory(100 << 20), 16 << 20);
/// assert_eq!((budget.needed(), budget.left()), (60 << 20, 40 << 20));
/// assert!(budget.with(41 << 20).check("2 threads need", Shortage::FEWER_THREADS).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget {
    total: u64,
    needed: u64,
}

impl Budget {
    /// The program, its main stack, and small allocations.
    const PROCESS: u64 = 16 << 20;
    /// The buffers of a group of files: reads with their outputs, tables of k-mers, or the
    /// files of a database.
    const FILES: u64 = 8 << 20;
    /// A worker without batches: its stack, its decompressor with a window, unused memory of its heap.
    const WORKER: u64 = 2 << 20;
    /// The host memory of the CUDA runtime, for all devices together.
    const DEVICES: u64 = 668 << 20;

    /// Plans `total` bytes for a process.
    pub fn new(total: u64) -> Budget {
        Budget::of_part(total).with(Self::PROCESS)
    }

    /// Plans the memory of a run that reads and writes files, and whose workers need `own` bytes each for batches and
    /// structures of the job: text, records, results that wait, output.
    pub fn of_run(context: &Context, own: u64) -> Budget {
        Budget::new(context.budget()).with_files(1).with_workers(context.threads, own)
    }

    /// Plans `total` bytes that do not include the process itself.
    pub fn of_part(total: u64) -> Budget {
        Budget { total, needed: 0 }
    }

    /// Plans the memory of a device with `available` bytes. A 32nd is left unused, for the context and for
    /// the rounding of allocations.
    pub fn of_device(available: u64) -> Budget {
        Budget::of_part(available / 32 * 31)
    }

    /// Adds the buffers of `groups` groups of files.
    #[must_use]
    pub fn with_files(self, groups: u64) -> Budget {
        self.with(groups * Self::FILES)
    }

    /// Adds workers that need `own` bytes each, in addition to what every worker needs.
    #[must_use]
    pub fn with_workers(self, workers: usize, own: u64) -> Budget {
        self.with(workers as u64 * (Self::WORKER + own))
    }

    /// Adds the host memory that CUDA needs.
    #[must_use]
    pub fn with_devices(self) -> Budget {
        self.with(Self::DEVICES)
    }

    /// Adds a structure of the job.
    #[must_use]
    pub fn with(self, bytes: u64) -> Budget {
        Budget { needed: self.needed.saturating_add(bytes), ..self }
    }

    /// Returns a plan with the same needs within `total` bytes.
    #[must_use]
    pub fn within(self, total: u64) -> Budget {
        Budget { total, ..self }
    }

    /// Returns the bytes that are needed so far.
    pub fn needed(self) -> u64 {
        self.needed
    }

    /// Returns the bytes that are not needed yet; 0 if there is too little.
    pub fn left(self) -> u64 {
        self.total.saturating_sub(self.needed)
    }

    /// Returns whether the memory suffices.
    pub fn suffices(self) -> bool {
        self.needed <= self.total
    }

    /// Returns the bytes that are [left](Self::left) if the memory suffices. `what` is the subject of the error
    /// message with its verb (`2 threads need`), and `remedy` what to do instead of raising the memory.
    ///
    /// # Errors
    /// If there is too little.
    pub fn check(self, what: impl Display, remedy: &'static str) -> Result<u64, Shortage> {
        if self.suffices() { Ok(self.left()) } else { Err(self.shortage(what, remedy)) }
    }

    /// Returns the bytes left of the memory [of a device](Self::of_device), which is for `what`.
    ///
    /// # Errors
    /// If there is too little.
    pub fn check_device(self, ordinal: u32, what: &'static str) -> Result<u64, GpuShortage> {
        if self.suffices() {
            return Ok(self.left());
        }
        let [available, needed] = [self.total, self.needed].map(|bytes| bytes / 31 * 32);
        Err(GpuShortage { ordinal, what, available, needed: needed + 32, remedy: "" })
    }

    /// Returns the error of a plan that needs more than there is; see [`check`](Self::check) for the arguments.
    pub fn shortage(self, what: impl Display, remedy: &'static str) -> Shortage {
        Shortage { what: what.to_string(), needed: self.needed, budget: self.total, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use crate::Shortage;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_all_jobs_take_and_what_a_job_adds_are_summed() {
        let process = Budget::new(100 * MIB);
        assert_eq!(process.needed(), 16 * MIB);
        let budget = process.with_files(2).with_workers(3, 4 * MIB).with(5 * MIB);
        assert_eq!((budget.needed(), budget.left()), (55 * MIB, 45 * MIB));
        assert_eq!(Budget::of_part(100 * MIB).with(5 * MIB).left(), 95 * MIB);
        // With CUDA, the process needs at most 0.7 GiB more.
        let cuda = process.with_devices().needed() - process.needed();
        assert!(cuda <= (7 << 30) / 10);
        assert!(process < budget);
    }

    #[test]
    fn what_is_said_to_be_needed_is_enough() {
        let plan = |total: u64| Budget::new(total).with_files(1).with_workers(2, 7 * MIB + 1);
        for total in [0, MIB, 42 * MIB + 1] {
            let error = plan(total).check("2 threads need", Shortage::FEWER_THREADS).unwrap_err();
            assert_eq!((error.budget, error.needed), (total, 42 * MIB + 2));
            assert_eq!(plan(total).left(), 0);
            assert!(plan(error.needed).check("", "").is_ok_and(|left| left == 0));
        }
    }

    #[test]
    fn what_a_device_is_said_to_need_is_enough() {
        for [available, needed] in [[MIB, MIB], [64 * MIB, 100 * MIB + 1], [0, 1]] {
            let plan = |available| Budget::of_device(available).with(needed);
            let error = plan(available).check_device(3, "k-mers").unwrap_err();
            assert_eq!((error.ordinal, error.available), (3, available));
            assert!(error.needed > needed && error.needed <= needed + needed / 31 + 32);
            assert!(plan(error.needed).check_device(3, "k-mers").is_ok());
        }
    }

    #[test]
    fn more_than_there_can_be_is_too_much() {
        let budget = Budget::new(u64::MAX - 1).with(u64::MAX);
        assert!(!budget.suffices() && budget.left() == 0);
        assert!(Budget::new(u64::MAX).with(u64::MAX).suffices());
    }
}
