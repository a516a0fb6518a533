//! A thread's work with devices: it sends batches to them, and goes on with the next ones; it makes
//! lines of what they have found.

use merganser_gpu::InFlight;
use merganser_io::RecordBatch;

use super::counts::BlockCuts;
use super::work::Run;
use super::worker::Kraken2Worker;
use crate::Error;
use crate::cuda::{Kraken2Flight, Kraken2Gpus};

/// Batches that a thread may have on devices while it goes on: one is looked at while the other one is
/// parsed.
const IN_FLIGHT: usize = 2;

/// A batch that is on a device.
struct Sent {
    batch: RecordBatch,
    cuts: BlockCuts,
    flight: Kraken2Flight,
}

/// A thread with its batches.
pub(super) struct OnGpus<'o, 'r, 'w, 'p, 'c> {
    run: &'o Run<'r, 'w, 'p>,
    gpus: &'o Kraken2Gpus,
    worker: Kraken2Worker<'c>,
    in_flight: InFlight<Sent>,
    /// For their memory.
    spare: Vec<RecordBatch>,
}

impl<'o, 'r, 'w, 'p, 'c> OnGpus<'o, 'r, 'w, 'p, 'c> {
    pub(super) fn new(
        run: &'o Run<'r, 'w, 'p>,
        gpus: &'o Kraken2Gpus,
        worker: Kraken2Worker<'c>,
    ) -> OnGpus<'o, 'r, 'w, 'p, 'c> {
        OnGpus { run, gpus, worker, in_flight: InFlight::default(), spare: Vec::new() }
    }

    /// Takes batches until there are none.
    pub(super) fn work(mut self) {
        loop {
            let mut batch = self.spare.pop().unwrap_or_default();
            if !self.run.next(&mut batch) {
                break;
            }
            let Some(cuts) = self.run.blocks(&batch) else { break };
            if !self.run.batches.written().has_room(batch.number()) {
                // Those who wait for room may wait for ours.
                self.land(0);
            }
            if !self.run.batches.wait_for_room(&batch) {
                break;
            }
            let lengths = (0..batch.len()).map(|at| batch.record(at).letters.len());
            if !batch.is_long() && Kraken2Gpus::has_room(lengths) {
                self.send(batch, cuts);
            } else {
                // Whoever hands in out of turn must have nothing before it.
                self.land(0);
                self.run.classify_here(&mut self.worker, &mut batch, &cuts);
            }
        }
        self.land(0);
    }

    /// Sends a batch to a device.
    fn send(&mut self, mut batch: RecordBatch, cuts: BlockCuts) {
        self.worker.mask(&mut batch);
        let number = batch.number();
        match self.start(&batch) {
            Ok(flight) => self.in_flight.push(Sent { batch, cuts, flight }),
            Err(error) => self.run.batches.fail(number, error),
        }
        self.land(IN_FLIGHT - 1);
    }

    fn start(&mut self, batch: &RecordBatch) -> Result<Kraken2Flight, Error> {
        loop {
            // Who has batches on devices must not wait for a place: others may wait for his.
            if let Some(mut flight) = self.gpus.place(self.in_flight.is_empty())? {
                let sequences = (0..batch.len()).map(|at| batch.record(at).letters);
                self.gpus.start(&mut flight, sequences, self.worker.joins_runs())?;
                return Ok(flight);
            }
            self.land(self.in_flight.len() - 1);
        }
    }

    /// Goes on with the batches that devices are done with, with the first ones in any case, so that no
    /// more than `most` are left.
    fn land(&mut self, most: usize) {
        let is_done = |sent: &Sent| sent.flight.is_done();
        while let Some((Sent { batch, cuts, mut flight }, done)) =
            self.in_flight.landed(most, is_done)
        {
            let mut part = self.run.spare_part();
            let found = done.and_then(|()| flight.finish());
            let done = found.and_then(|found| {
                self.worker.classify_found(&batch, &cuts, found, &mut part.batch)
            });
            drop(flight);
            self.run.hand_in(&batch, batch.is_long(), done.map(|()| part));
            self.spare.push(batch);
        }
    }
}
