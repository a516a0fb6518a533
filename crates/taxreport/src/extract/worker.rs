//! A worker that writes the extracted reads of a batch as text.

use std::time::{Duration, Instant};

use merganser_io::{BgzfBlocks, Record};
use merganser_run::InOrderSink;
use merganser_run::engine::{Turn, Work};

use super::steps::{Step, Steps};
use super::{ExtractOutputs, ExtractStream};
use crate::Error;
use crate::output::ReadTexts;

/// The counts of one thread.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) records: u64,
    pub(super) extracted: u64,
    pub(super) without_line: u64,
    /// The number and the name of the first read without a line.
    pub(super) first: Option<(u64, String)>,
    /// The time spent on extracting.
    pub(super) time: Duration,
}

impl Tally {
    /// Adds the counts of another thread.
    pub(super) fn add(&mut self, other: Tally) {
        self.records += other.records;
        self.extracted += other.extracted;
        self.without_line += other.without_line;
        self.time += other.time;
        let both = [self.first.take(), other.first].into_iter().flatten();
        self.first = both.min_by_key(|(number, _)| *number);
    }
}

/// The state of a worker.
pub(super) struct Worker<'w, 's> {
    pub(super) steps: &'w Steps<'s>,
    pub(super) fasta: bool,
    /// Whether the texts of single reads, first mates and second mates are compressed.
    pub(super) gzip: [bool; 3],
    /// Whether mates have separate outputs.
    pub(super) apart: bool,
    pub(super) blocks: BgzfBlocks,
    pub(super) tally: Tally,
}

impl Work for Worker<'_, '_> {
    type Batch = Step;
    type Output = ReadTexts;
    type Error = Error;

    fn work(
        &mut self,
        step: &mut Step,
        turn: &Turn<'_, ReadTexts, Error>,
    ) -> Result<ReadTexts, Error> {
        let begun = Instant::now();
        let mut texts = turn.spare().unwrap_or_default();
        self.extract(step, &mut texts);
        texts.compress(self.gzip, &mut self.blocks);
        self.tally.time += begun.elapsed();
        Ok(texts)
    }
}

impl Worker<'_, '_> {
    fn extract(&mut self, step: &Step, texts: &mut ReadTexts) {
        let Step { batch, extracted } = step;
        self.tally.records += batch.reads() as u64;
        for read in 0..batch.reads() {
            let known = extracted.get(read).copied();
            match known.or_else(|| self.steps.by_name(batch, read)) {
                Some(true) => {
                    self.tally.extracted += 1;
                    let fasta = self.fasta;
                    texts.add_by(batch, read, self.apart, |record, text| {
                        let quality = record.quality.filter(|_| !fasta);
                        Record { quality, ..*record }.write(text);
                    });
                }
                Some(false) => {}
                None => {
                    self.tally.without_line += 1;
                    // Each thread gets batches in ascending order.
                    self.tally.first.get_or_insert_with(|| {
                        let name = String::from_utf8_lossy(batch.name(read * batch.mates()));
                        (batch.first() + read as u64, name.into_owned())
                    });
                }
            }
        }
    }
}

/// Writes texts in input order.
pub(super) struct Written<'o> {
    pub(super) outputs: ExtractOutputs<'o>,
}

impl Written<'_> {
    /// Returns whether the texts of single reads, first mates and second mates are compressed.
    pub(super) fn gzip(&self) -> [bool; 3] {
        let ExtractOutputs { single, mates } = &self.outputs;
        let of = |stream: Option<&ExtractStream<'_>>| stream.is_some_and(|stream| stream.gzip);
        let mate = |at: usize| of(mates.as_ref().map(|mates| &mates[at]));
        [of(single.as_ref()), mate(0), mate(1)]
    }

    /// Writes the end of compressed outputs.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let ExtractOutputs { single, mates } = &mut self.outputs;
        for stream in single.iter_mut().chain(mates.iter_mut().flatten()).filter(|at| at.gzip) {
            stream.output.write_all(&BgzfBlocks::END)?;
        }
        Ok(())
    }
}

impl InOrderSink<ReadTexts> for Written<'_> {
    type Error = Error;

    fn write(&mut self, mut texts: ReadTexts) -> Result<Option<ReadTexts>, Error> {
        let ExtractOutputs { single, mates } = &mut self.outputs;
        let [one, first, second] = texts.texts();
        if let Some(single) = single {
            single.output.write_all(one)?;
        }
        for (mate, text) in mates.iter_mut().flatten().zip([first, second]) {
            mate.output.write_all(text)?;
        }
        texts.clear();
        Ok(Some(texts).filter(|texts| texts.capacity() < MAX_KEPT))
    }
}

/// The maximum size of a batch's text whose memory is kept for reuse; the memory of a giant read is freed.
const MAX_KEPT: usize = 8 << 20;
