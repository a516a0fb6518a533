//! What each thread does: it takes batches, classifies them, and hands in what is to be written; and how
//! that is written, in order.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use merganser_io::{RecordBatch, Records};
use merganser_run::locks::lock;
use merganser_run::{InOrderSink, Pipeline};

use super::Kraken2Taxonomy;
use super::batch::Kraken2Batch;
use super::counts::{BlockCuts, InputBlocks, Kraken2Counts};
use super::joining::Joining;
use super::sequences::Kraken2Sequences;
use super::worker::Kraken2Worker;
use crate::Error;
use crate::output::{LinesSum, Outputs, Wants};
use crate::partial::reads_sum;

/// Who waits for the batches before his looks so often whether these will come.
const LOOK: Duration = Duration::from_millis(50);
/// Text of a batch whose memory is worth keeping: one giant read's is not.
const MOST_KEPT: usize = 16 << 20;

/// What is made of a batch.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) batch: Kraken2Batch,
    sequences: Kraken2Sequences,
    bases: u64,
    reads_sum: u64,
}

/// Writes what comes in order, and counts.
pub(super) struct Written<'w, 'o> {
    pub(super) outputs: &'w mut Outputs<'o>,
    pub(super) counts: Kraken2Counts,
    pub(super) bases: u64,
    /// Of partial results.
    pub(super) reads_sum: u64,
    pub(super) lines_sum: LinesSum,
}

impl InOrderSink<Part> for Written<'_, '_> {
    type Error = Error;

    fn write(&mut self, mut part: Part) -> Result<Option<Part>, Error> {
        if let Some(lines) = &mut self.outputs.lines {
            lines.write_all(part.batch.lines())?;
        }
        if self.outputs.partial.is_some() {
            self.lines_sum.add(part.batch.lines());
        }
        if let Some(reads) = &mut self.outputs.classified {
            part.sequences.classified.write(reads)?;
        }
        if let Some(reads) = &mut self.outputs.unclassified {
            part.sequences.unclassified.write(reads)?;
        }
        self.counts.add(&mut part.batch);
        self.bases += part.bases;
        self.reads_sum = self.reads_sum.wrapping_add(part.reads_sum);
        Ok(Some(part).filter(Part::is_usual))
    }
}

impl Part {
    /// Whether its memory is worth keeping.
    fn is_usual(&self) -> bool {
        self.batch.lines().len() + self.sequences.capacity() <= MOST_KEPT
    }
}

/// One run over some reads.
pub(super) struct Run<'r, 'w, 'o> {
    pub(super) batches: Pipeline<'r, Records, Part, Written<'w, 'o>>,
    pub(super) taxonomy: &'r Kraken2Taxonomy,
    pub(super) wants: Wants,
    /// The number of the batch that is cut into blocks next, if that is needed.
    pub(super) cutting: Option<Mutex<(u64, InputBlocks)>>,
    pub(super) cut: Condvar,
    /// Blocks of the input whose sketches are to be joined.
    pub(super) joining: Arc<Joining>,
}

impl Run<'_, '_, '_> {
    /// Takes batches until there are none.
    pub(super) fn work(&self, worker: &mut Kraken2Worker<'_>) {
        let mut batch = RecordBatch::default();
        while self.next(&mut batch) {
            let Some(cuts) = self.blocks(&batch) else { return };
            if !self.batches.wait_for_room(&batch) {
                return;
            }
            self.classify_here(worker, &mut batch, &cuts);
        }
    }

    /// The next batch, before which a block of the input has its sketches joined, if one waits for that.
    pub(super) fn next(&self, batch: &mut RecordBatch) -> bool {
        self.joining.join_one();
        self.batches.next(batch)
    }

    /// Classifies a batch on this thread.
    pub(super) fn classify_here(
        &self,
        worker: &mut Kraken2Worker<'_>,
        batch: &mut RecordBatch,
        cuts: &BlockCuts,
    ) {
        let mut part = self.spare_part();
        let done = worker.classify(batch, cuts, &mut part.batch);
        self.hand_in(batch, batch.is_long(), done.map(|()| part));
    }

    /// One that was written, or a new one.
    pub(super) fn spare_part(&self) -> Part {
        self.batches.written().spare().unwrap_or_default()
    }

    /// Hands in what was made of a batch, but for its sequences; of one that is long it must not wait
    /// for its turn in memory.
    pub(super) fn hand_in(&self, batch: &RecordBatch, is_long: bool, done: Result<Part, Error>) {
        let done = done.map(|mut part| {
            part.sequences.refill(self.taxonomy, batch, &part.batch, &self.wants);
            part.bases = (0..batch.len()).map(|at| batch.record(at).letters.len() as u64).sum();
            part.reads_sum = if self.wants.partial { reads_sum(batch) } else { 0 };
            part
        });
        match is_long {
            true => self.batches.hand_in_its_turn(batch.number(), done),
            false => self.batches.hand_in(batch.number(), done),
        }
    }

    /// Where blocks of the input begin in a batch, once those before it have been cut; `None` if one of
    /// them will not be.
    pub(super) fn blocks(&self, batch: &RecordBatch) -> Option<BlockCuts> {
        let Some(cutting) = &self.cutting else { return Some(BlockCuts::default()) };
        let mut state = lock(cutting);
        while state.0 != batch.number() {
            if self.batches.written().has_failed() {
                return None;
            }
            state = match self.cut.wait_timeout(state, LOOK) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        let cuts = state.1.cut(batch);
        state.0 += 1;
        drop(state);
        self.cut.notify_all();
        Some(cuts)
    }
}
