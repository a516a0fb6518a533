//! Classification with devices: they look up minimizers, and workers write lines from the results.

use merganser_run::engine::{Device, Turn};

use super::work::{BatchResult, CutBatch, Worker};
use crate::Error;
use crate::cuda::{Kraken2Flight, Kraken2Gpus};

impl Device<Worker<'_>> for Kraken2Gpus {
    type Slot = Kraken2Flight;

    /// The device processes one batch while the worker parses another.
    const IN_FLIGHT: usize = 2;

    fn takes(&self, CutBatch { batch, .. }: &CutBatch) -> bool {
        let lengths = (0..batch.len()).map(|at| batch.letter_count(at));
        !batch.is_long() && Kraken2Gpus::has_room(lengths)
    }

    fn place(&self, _: &mut Worker<'_>, may_wait: bool) -> Result<Option<Kraken2Flight>, Error> {
        Kraken2Gpus::place(self, may_wait)
    }

    fn start(
        &self,
        Worker { worker, .. }: &mut Worker<'_>,
        CutBatch { batch, .. }: &mut CutBatch,
        flight: &mut Kraken2Flight,
    ) -> Result<(), Error> {
        worker.mask(batch);
        let sequences = (0..batch.len()).map(|at| batch.letters(at));
        Kraken2Gpus::start(self, flight, sequences, worker.joins_runs())
    }

    fn is_done(&self, flight: &Kraken2Flight) -> Result<bool, Error> {
        flight.is_done()
    }

    fn finish(
        &self,
        Worker { run, worker }: &mut Worker<'_>,
        CutBatch { batch, cuts }: &mut CutBatch,
        mut flight: Kraken2Flight,
        turn: &Turn<'_, BatchResult, Error>,
    ) -> Result<BatchResult, Error> {
        let mut part = turn.spare().unwrap_or_default();
        worker.classify_found(batch, cuts, flight.finish()?, &mut part.batch)?;
        drop(flight);
        run.complete(batch, part)
    }
}
