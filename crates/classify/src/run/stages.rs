//! Where the time of a run goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use merganser_io::RecordTimes;

use crate::cuda::GpuTimes;

/// Where the time of a run went. Threads and devices work side by side: what a stage took is the
/// sum over all threads.
#[derive(Clone, Debug, Default)]
pub struct RunStages {
    /// Reading, parsing and putting batches together.
    pub records: RecordTimes,
    /// Finding candidates on the CPU; with devices, copying reads to pinned memory and sending them
    /// off.
    pub finding: Duration,
    /// Waiting for a device, or for a free place to send reads to.
    pub waiting: Duration,
    /// From what devices found to candidates.
    pub collecting: Duration,
    /// Deciding, and making lines.
    pub deciding: Duration,
    /// Waiting for earlier batches to be written.
    pub turns: Duration,
    /// Writing, by one thread at a time.
    pub writing: Duration,
    /// The devices' own clocks.
    pub gpu: Option<GpuTimes>,
}

/// Adds up what threads spend.
#[derive(Debug, Default)]
pub(super) struct Clock([AtomicU64; 6]);

impl Clock {
    pub(super) const FINDING: usize = 0;
    pub(super) const WAITING: usize = 1;
    pub(super) const COLLECTING: usize = 2;
    pub(super) const DECIDING: usize = 3;
    pub(super) const TURNS: usize = 4;
    pub(super) const WRITING: usize = 5;

    /// Adds the time since `begun`, and gives the time now.
    pub(super) fn add(&self, stage: usize, begun: Instant) -> Instant {
        let now = Instant::now();
        let spent = now.duration_since(begun).as_nanos() as u64;
        self.0[stage].fetch_add(spent, Ordering::Relaxed);
        now
    }
}

impl RunStages {
    pub(super) fn end(&mut self, clock: &Clock, gpu: Option<GpuTimes>) {
        let of = |stage: usize| Duration::from_nanos(clock.0[stage].load(Ordering::Relaxed));
        self.finding = of(Clock::FINDING);
        self.waiting = of(Clock::WAITING);
        self.collecting = of(Clock::COLLECTING);
        self.deciding = of(Clock::DECIDING);
        self.turns = of(Clock::TURNS);
        self.writing = of(Clock::WRITING);
        self.gpu = gpu;
    }
}
