//! Measures the time of each stage of a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use merganser_io::RecordTimes;
use merganser_run::Stages;

/// The time that threads spend in each stage.
#[derive(Debug, Default)]
pub(super) struct Clock([AtomicU64; NAMES.len()]);

/// The names of the stages after reading, indexed by the constants below.
const NAMES: [&str; 6] =
    ["finding", "waiting_for_devices", "collecting", "deciding", "waiting_for_turns", "writing"];

impl Clock {
    /// Finding candidates on the CPU; with devices, copying reads to pinned memory and sending them.
    pub(super) const FINDING: usize = 0;
    /// Waiting for a device or a free slot.
    pub(super) const WAITING: usize = 1;
    /// Turning the results of devices into candidates.
    pub(super) const COLLECTING: usize = 2;
    /// Deciding and formatting lines.
    pub(super) const DECIDING: usize = 3;
    /// Waiting for earlier batches to be written.
    pub(super) const TURNS: usize = 4;
    /// Writing, by one thread at a time.
    pub(super) const WRITING: usize = 5;

    /// Adds the time since `begun` to a stage. Returns the current time.
    pub(super) fn add(&self, stage: usize, begun: Instant) -> Instant {
        let now = Instant::now();
        let spent = now.duration_since(begun).as_nanos() as u64;
        self.0[stage].fetch_add(spent, Ordering::Relaxed);
        now
    }

    /// Adds the measured times to `stages`.
    pub(super) fn tell(&self, stages: &mut Stages) {
        for (name, spent) in NAMES.into_iter().zip(&self.0) {
            stages.add(name, Duration::from_nanos(spent.load(Ordering::Relaxed)));
        }
    }
}

/// Adds the times of reading, parsing and assembling batches to `stages`.
pub(super) fn tell_reading(times: &RecordTimes, stages: &mut Stages) {
    let &RecordTimes { reading, parsing, gathering, waiting } = times;
    stages.add("reading", reading);
    stages.add("parsing", parsing);
    stages.add("gathering", gathering);
    stages.add("waiting_for_reads", waiting);
}
