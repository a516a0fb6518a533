//! A worker that writes the extracted reads of a batch as text.

use std::time::{Duration, Instant};

use merganser_alignments::{Compressor, SinkForm, SinkWriter, TemplatePass};
use merganser_io::{BgzfBlocks, Record, RecordBatch, finish_all};
use merganser_run::InOrderSink;
use merganser_run::engine::{Turn, Work};

use super::steps::{Step, Steps};
use super::{ExtractConfig, ExtractOutputs, ExtractStream};
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
    /// Counts a read without a line.
    fn count_without_line(&mut self, batch: &RecordBatch, read: usize) {
        self.without_line += 1;
        // Each thread gets batches in ascending order.
        self.first.get_or_insert_with(|| {
            let name = String::from_utf8_lossy(batch.name(read * batch.mates()));
            (batch.first() + read as u64, name.into_owned())
        });
    }

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
    pub(super) config: &'w ExtractConfig,
    pub(super) pass: &'w TemplatePass<'w>,
    /// The form of alignments, if reads are written as such, and their compressor.
    pub(super) alignments: Option<(&'w SinkForm, Compressor)>,
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
        self.pass.check(&step.batch)?;
        self.extract(step, &mut texts)?;
        match &mut self.alignments {
            Some((_, compressor)) => texts.compress_with(compressor)?,
            None => texts.compress(self.gzip, &mut self.blocks),
        }
        self.tally.time += begun.elapsed();
        Ok(texts)
    }
}

impl Worker<'_, '_> {
    fn extract(&mut self, step: &Step, texts: &mut ReadTexts) -> Result<(), Error> {
        let Step { batch, extracted } = step;
        self.tally.records += batch.reads() as u64;
        for read in 0..batch.reads() {
            let known = extracted.get(read).copied();
            let decided = known.or_else(|| self.steps.by_name(batch, read));
            let is_extracted = decided.unwrap_or(false);
            if decided.is_none() {
                self.tally.count_without_line(batch, read);
            }
            if self.pass.collects_names() {
                let noted = (is_extracted == self.config.keeps_named()).then_some(read);
                self.pass.note(batch, noted.into_iter())?;
            } else if is_extracted {
                self.tally.extracted += 1;
                self.write(batch, read, texts)?;
            }
        }
        Ok(())
    }

    /// Adds a read to the texts.
    fn write(&self, batch: &RecordBatch, read: usize, texts: &mut ReadTexts) -> Result<(), Error> {
        let form = self.alignments.as_ref().and_then(|(form, _)| form.alignments());
        if let Some(writer) = form {
            return texts.add_alignments(batch, read, writer);
        }
        let fasta = self.config.fasta;
        texts.add_by(batch, read, self.apart, |record, text| {
            let quality = record.quality.filter(|_| !fasta);
            Record { quality, ..*record }.write(text);
        });
        Ok(())
    }
}

/// Writes texts in input order.
pub(super) enum Written<'o> {
    /// Reads as text.
    Text(ExtractOutputs<'o>),
    /// Reads as alignments.
    Alignments(Box<SinkWriter>),
}

impl Written<'_> {
    /// Returns whether the texts of single reads, first mates and second mates are compressed.
    pub(super) fn gzip(&self) -> [bool; 3] {
        let Written::Text(ExtractOutputs { single, mates }) = self else { return [false; 3] };
        let of = |stream: Option<&ExtractStream<'_>>| stream.is_some_and(|stream| stream.gzip);
        let mate = |at: usize| of(mates.as_ref().map(|mates| &mates[at]));
        [of(single.as_ref()), mate(0), mate(1)]
    }

    /// Whether mates have separate outputs.
    pub(super) fn is_apart(&self) -> bool {
        matches!(self, Written::Text(ExtractOutputs { mates: Some(_), .. }))
    }

    /// Returns the form of alignments, if the reads are written as such.
    pub(super) fn form(&self) -> Option<SinkForm> {
        match self {
            Written::Text(_) => None,
            Written::Alignments(writer) => Some(writer.form().clone()),
        }
    }

    /// Writes the end of compressed outputs, and finishes an output of alignments.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self {
            Written::Text(ExtractOutputs { mut single, mut mates }) => {
                let all = single.iter_mut().chain(mates.iter_mut().flatten());
                for stream in all.filter(|stream| stream.gzip) {
                    stream.output.write_all(&BgzfBlocks::END)?;
                }
            }
            Written::Alignments(writer) => {
                finish_all([writer.end()?])?;
            }
        }
        Ok(())
    }
}

impl InOrderSink<ReadTexts> for Written<'_> {
    type Error = Error;

    fn write(&mut self, mut texts: ReadTexts) -> Result<Option<ReadTexts>, Error> {
        let [one, first, second] = texts.texts();
        match self {
            Written::Alignments(writer) => writer.write(one)?,
            Written::Text(ExtractOutputs { single, mates }) => {
                if let Some(single) = single {
                    single.output.write_all(one)?;
                }
                for (mate, text) in mates.iter_mut().flatten().zip([first, second]) {
                    mate.output.write_all(text)?;
                }
            }
        }
        texts.clear();
        Ok(Some(texts).filter(|texts| texts.capacity() < MAX_KEPT))
    }
}

/// The maximum size of a batch's text whose memory is kept for reuse; the memory of a giant read is freed.
const MAX_KEPT: usize = 8 << 20;
