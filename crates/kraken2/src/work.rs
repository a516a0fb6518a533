//! The pipeline of a run: batches with the blocks of the input, the results of workers, and their output
//! in input order.

use std::sync::Arc;

use merganser_io::{RecordBatch, Records};
use merganser_run::InOrderSink;
use merganser_run::engine::{Engine, Source, Turn, Turns, Work};

use super::Kraken2Taxonomy;
use super::batch::Kraken2Batch;
use super::counts::{BlockCuts, InputBlocks, Kraken2Counts};
use super::joining::Joining;
use super::sequences::Kraken2Sequences;
use super::worker::Kraken2Worker;
use crate::Error;
use merganser_taxreport::output::{LinesSum, Outputs, Wants};
use merganser_taxreport::partial::reads_sum;

/// The maximum size of a batch's text whose memory is kept for reuse; the memory of a giant read is freed.
const MAX_KEPT: usize = 16 << 20;

/// The results of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchResult {
    pub(super) batch: Kraken2Batch,
    sequences: Kraken2Sequences,
    bases: u64,
    reads_sum: u64,
}

/// Writes results in input order and sums their counts.
pub(super) struct Written<'w, 'o> {
    pub(super) outputs: &'w mut Outputs<'o>,
    pub(super) counts: Kraken2Counts,
    pub(super) bases: u64,
    /// The sum over reads that identifies them in partial results.
    pub(super) reads_sum: u64,
    pub(super) lines_sum: LinesSum,
}

impl InOrderSink<BatchResult> for Written<'_, '_> {
    type Error = Error;

    fn write(&mut self, mut part: BatchResult) -> Result<Option<BatchResult>, Error> {
        if let Some(lines) = &mut self.outputs.lines {
            lines.write_all(part.batch.lines())?;
        }
        if let Some(segments) = &mut self.outputs.segments {
            segments.write_all(part.batch.segments.text())?;
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
        self.counts.add(&mut part.batch, part.bases);
        self.bases += part.bases;
        self.reads_sum = self.reads_sum.wrapping_add(part.reads_sum);
        Ok(Some(part).filter(BatchResult::is_usual))
    }
}

impl BatchResult {
    /// Whether the memory of the results should be kept for reuse.
    fn is_usual(&self) -> bool {
        let lines = self.batch.lines.capacity() + self.batch.segments.capacity();
        lines + self.sequences.capacity() <= MAX_KEPT
    }
}

/// The source of batches; also finds where blocks of the input begin in them.
pub(super) struct CutReads {
    pub(super) records: Records,
    /// Cuts the input into blocks, if the report needs them.
    pub(super) blocks: Option<Turns<InputBlocks>>,
    /// Receives the sketches of finished blocks.
    pub(super) joining: Arc<Joining>,
}

/// A batch, and where blocks of the input begin in it.
#[derive(Default)]
pub(super) struct CutBatch {
    pub(super) batch: RecordBatch,
    pub(super) cuts: BlockCuts,
}

impl Source for CutReads {
    type Batch = CutBatch;
    type Error = Error;

    /// Reads the next batch. Before that, joins the sketches of one waiting block, if any.
    fn next(&self, CutBatch { batch, cuts }: &mut CutBatch) -> Result<Option<u64>, Error> {
        self.joining.join_one();
        let bytes = self.records.next(batch)?;
        let (Some(_), Some(blocks)) = (bytes, &self.blocks) else { return Ok(bytes) };
        let Some(cut) = blocks.take(batch.number(), |blocks| blocks.cut(batch)) else {
            return Ok(None);
        };
        *cuts = cut;
        Ok(bytes)
    }

    fn number(cut: &CutBatch) -> u64 {
        cut.batch.number()
    }

    fn is_long(&self, cut: &CutBatch) -> bool {
        cut.batch.is_long()
    }

    fn stop(&self, number: u64) {
        self.records.stop();
        if let Some(blocks) = &self.blocks {
            blocks.stop(number);
        }
    }
}

/// The parameters of a run that all workers share.
pub(super) struct RunContext<'r> {
    pub(super) taxonomy: &'r Kraken2Taxonomy,
    pub(super) wants: Wants<'r>,
}

/// The pipeline of a run.
pub(super) type Batches<'r, 'w, 'o> = Engine<'r, CutReads, BatchResult, Written<'w, 'o>>;

impl RunContext<'_> {
    /// Adds the output reads and sums of a batch whose reads are classified.
    ///
    /// # Errors
    /// If a read cannot be written as an alignment.
    pub(super) fn complete(
        &self,
        batch: &RecordBatch,
        mut part: BatchResult,
    ) -> Result<BatchResult, Error> {
        part.sequences.refill(self.taxonomy, batch, &part.batch, &self.wants)?;
        part.bases = (0..batch.len()).map(|at| batch.letter_count(at) as u64).sum();
        part.reads_sum = if self.wants.partial { reads_sum(batch) } else { 0 };
        Ok(part)
    }
}

/// A worker of the pipeline.
pub(super) struct Worker<'w> {
    pub(super) run: &'w RunContext<'w>,
    pub(super) worker: Kraken2Worker<'w>,
}

impl Work for Worker<'_> {
    type Batch = CutBatch;
    type Output = BatchResult;
    type Error = Error;

    fn work(
        &mut self,
        CutBatch { batch, cuts }: &mut CutBatch,
        turn: &Turn<'_, BatchResult, Error>,
    ) -> Result<BatchResult, Error> {
        let mut part = turn.spare().unwrap_or_default();
        self.worker.classify(batch, cuts, &mut part.batch)?;
        self.run.complete(batch, part)
    }
}
