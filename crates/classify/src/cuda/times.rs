//! Times measured by the devices' clocks.

use std::sync::Mutex;
use std::time::Duration;

use merganser_gpu::{Device, Event, Result, Stream, Uploaded};
use merganser_run::locks::lock;

/// Times by the devices' own clocks. Batches overlap: each kind of work is counted while any batch does it, on each
/// device. Kinds overlap each other, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuTimes {
    /// The copies of tables to the devices, by the host's clock.
    pub tables: Uploaded,
    /// The time for copying reads to the devices.
    pub upload: Duration,
    /// The time in kernels.
    pub kernels: Duration,
    /// The time for copying candidates back.
    pub download: Duration,
    /// The time with any of these.
    pub busy: Duration,
    /// The number of batches, without those of long reads.
    pub batches: u64,
    /// The cycles that a sample of the kernels' blocks spent in each phase: sketching, look-ups, gathering and
    /// ordering locations, choosing candidates, pooling.
    pub phases: [u64; PHASES],
}

/// The number of phases of a kernel.
pub(super) const PHASES: usize = 5;

impl GpuTimes {
    /// Returns the times since `before`.
    pub(crate) fn since(&self, before: &GpuTimes) -> GpuTimes {
        GpuTimes {
            tables: self.tables.since(before.tables),
            upload: self.upload.saturating_sub(before.upload),
            kernels: self.kernels.saturating_sub(before.kernels),
            download: self.download.saturating_sub(before.download),
            busy: self.busy.saturating_sub(before.busy),
            batches: self.batches - before.batches,
            phases: std::array::from_fn(|at| self.phases[at] - before.phases[at]),
        }
    }

    pub(crate) fn add(&mut self, other: &GpuTimes) {
        self.tables.add(other.tables);
        self.upload += other.upload;
        self.kernels += other.kernels;
        self.download += other.download;
        self.busy += other.busy;
        self.batches += other.batches;
        for (own, others) in self.phases.iter_mut().zip(other.phases) {
            *own += others;
        }
    }
}

/// The clock of one device.
#[derive(Debug)]
pub(super) struct DeviceClock {
    begun: Event,
    /// The start and end of each batch's upload, kernels and download.
    spans: Mutex<[Vec<[Duration; 2]>; 3]>,
    phases: Mutex<[u64; PHASES]>,
}

/// Four points in the work of a batch, between which are its upload, kernels and download.
#[derive(Debug)]
pub(super) struct BatchClock(pub(super) [Event; 4]);

impl BatchClock {
    pub(super) fn new(device: &Device) -> Result<BatchClock> {
        let event = || device.timing_event();
        Ok(BatchClock([event()?, event()?, event()?, event()?]))
    }

    /// Records that the batch reaches point `at`.
    pub(super) fn mark(&self, at: usize, stream: &Stream) -> Result<()> {
        stream.record(&self.0[at])
    }

    /// Whether all work before the last mark is done.
    pub(super) fn is_done(&self) -> Result<bool> {
        self.0[3].is_done()
    }

    pub(super) fn wait(&self) -> Result<()> {
        self.0[3].synchronize()
    }
}

impl DeviceClock {
    pub(super) fn new(stream: &Stream) -> Result<DeviceClock> {
        let begun = stream.device().timing_event()?;
        stream.record(&begun)?;
        stream.synchronize()?;
        Ok(DeviceClock { begun, spans: Mutex::default(), phases: Mutex::default() })
    }

    /// Adds the times of a finished batch.
    pub(super) fn take(&self, batch: &BatchClock, phases: &[u64]) -> Result<()> {
        let mut at = [Duration::ZERO; 4];
        for (at, event) in at.iter_mut().zip(&batch.0) {
            *at = self.begun.elapsed(event)?;
        }
        let mut spans = lock(&self.spans);
        for (kind, span) in spans.iter_mut().enumerate() {
            span.push([at[kind], at[kind + 1]]);
        }
        drop(spans);
        let mut sums = lock(&self.phases);
        sums.iter_mut().zip(phases).for_each(|(sum, cycles)| *sum += cycles);
        Ok(())
    }

    pub(super) fn times(&self) -> GpuTimes {
        let spans = lock(&self.spans);
        let [upload, kernels, download] = [0, 1, 2].map(|kind| covered(spans[kind].clone()));
        GpuTimes {
            tables: Uploaded::default(),
            upload,
            kernels,
            download,
            busy: covered(spans.concat()),
            batches: spans[0].len() as u64,
            phases: *lock(&self.phases),
        }
    }
}

/// Returns the time covered by any of the spans.
fn covered(mut spans: Vec<[Duration; 2]>) -> Duration {
    spans.sort_unstable();
    let (mut sum, mut until) = (Duration::ZERO, Duration::ZERO);
    for [from, to] in spans {
        sum += to.saturating_sub(from.max(until));
        until = until.max(to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        let seconds = |[from, to]: [u64; 2]| [Duration::from_secs(from), Duration::from_secs(to)];
        let spans = [[5, 7], [1, 4], [2, 3], [6, 9], [9, 9]].map(seconds).to_vec();
        assert_eq!(covered(spans), Duration::from_secs(7));
        assert_eq!(covered(Vec::new()), Duration::ZERO);
    }
}
