//! Copies of the alignments of a file, selected by the names of their templates.

use std::collections::HashMap;
use std::time::Instant;

use merganser_io::{Header, Input, Keep, Output, ReadInput, RecordBatch, Records, finish_all};
use merganser_run::engine::{Engine, Turn, Work};
use merganser_run::{Context, InOrderSink, Stages, Unit};

use super::names::NameMap;
use super::sink::Compressor;
use super::{KeptAlignment, Names, Sink, SinkForm, SinkWriter, TemplatePass};
use crate::{Error, RecordOptions};

/// The maximum number of records of a batch, and of their bytes. Compressed blocks of the outputs end where batches do.
const BATCH: [usize; 2] = [16 << 10, 1 << 20];
/// The number of batches per worker that may be started before the one that is written next.
const AHEAD: u64 = 2;

/// A copy of the alignments of a file, in their order, after a pass that collected names.
#[derive(Debug)]
pub struct CopyByName<'c> {
    /// The file.
    pub input: &'c Input,
    /// The names.
    pub names: Names,
    /// Tags that are added to the alignments of each read, by its value: those of value 0 also to reads that were not
    /// noted. Values without tags add none.
    pub tags: HashMap<u32, Vec<u8>>,
    /// The outputs for the alignments with these names, and for all others.
    pub sinks: [Option<Sink>; 2],
    /// The command line that headers name.
    pub command: &'c str,
    /// The stage of the progress, in bytes of input.
    pub stage: &'static str,
    /// The maximum size of a record in bytes.
    pub max_record: usize,
}

/// Numbers of reads with a name of the set and without: secondary and supplementary alignments do not count.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// The numbers of reads.
    pub reads: [u64; 2],
    /// The numbers of their bases.
    pub bases: [u64; 2],
    /// The wall time of the stages.
    pub stages: Stages,
}

impl CopyByName<'_> {
    /// Copies the alignments.
    ///
    /// # Errors
    /// If the file cannot be read again, an output cannot be written, or the run is cancelled.
    pub fn run(self, context: &Context) -> Result<Copied, Error> {
        let CopyByName { input, names, tags, sinks, command, stage, max_record } = self;
        let names = &(names.into_map(), tags);
        let begun = Instant::now();
        let segment = ReadInput::from(input.clone());
        let pass = TemplatePass::of_alignments(&segment);
        let records = Records::open([segment.clone()], options(&pass, max_record, context))?;
        let progress = &*context.progress;
        progress.stage(stage, Unit::Bytes, records.bytes_total());
        let form = |sink: &Sink| sink.form(&pass, command);
        let forms: [Option<SinkForm>; 2] = [0, 1].map(|kind| sinks[kind].as_ref().map(form));
        let writer = Writer::new(sinks, &forms);
        let threads = context.threads;
        let engine =
            Engine::new(&records, writer, AHEAD * threads as u64, progress, &context.cancel);
        let workers = engine.run(threads, || Worker::new(&pass, names, &forms))?;
        let outputs = engine.finish()?.end()?;
        let mut copied = Copied::default();
        workers.iter().for_each(|worker| copied.add(&worker.tally));
        copied.stages.add(stage, begun.elapsed());
        copied.stages.add("sync", finish_all(outputs)?);
        progress.finish();
        Ok(copied)
    }
}

impl Copied {
    fn add(&mut self, other: &Copied) {
        for kind in 0..2 {
            self.reads[kind] += other.reads[kind];
            self.bases[kind] += other.bases[kind];
        }
    }
}

fn options(pass: &TemplatePass<'_>, max_record: usize, context: &Context) -> RecordOptions {
    RecordOptions {
        keep: Keep { header: Header::Name, qualities: true },
        batch_records: BATCH[0],
        batch_bytes: BATCH[1],
        workers: context.threads,
        max_record,
        keep_alignments: pass.keep().clone(),
        cancel: context.cancel.clone(),
        ..RecordOptions::default()
    }
}

/// The texts of a batch: of alignments with a name of the set, and of the others.
type Texts = [Vec<u8>; 2];

/// Names with the values of their reads, and tags by these values.
type NamesAndTags = (NameMap, HashMap<u32, Vec<u8>>);

struct Worker<'w> {
    pass: &'w TemplatePass<'w>,
    names: &'w NamesAndTags,
    outputs: [Option<(&'w SinkForm, Compressor)>; 2],
    tally: Copied,
}

impl<'w> Worker<'w> {
    fn new(
        pass: &'w TemplatePass<'w>,
        names: &'w NamesAndTags,
        forms: &'w [Option<SinkForm>; 2],
    ) -> Worker<'w> {
        let output = |form: &'w SinkForm| (form, form.compressor());
        let outputs = forms.each_ref().map(|form| form.as_ref().map(output));
        Worker { pass, names, outputs, tally: Copied::default() }
    }

    /// Appends the alignment of a record to the text of its kind.
    fn put(&mut self, batch: &RecordBatch, at: usize, texts: &mut Texts) -> Result<(), Error> {
        let Some(header) = self.pass.keep().header.get() else { return Ok(()) };
        let alignment = KeptAlignment::first_of(header, batch.alignments(at));
        let (names, tags) = self.names;
        let values = names.get(alignment.name);
        let kind = usize::from(values.is_none());
        if alignment.is_primary() {
            self.tally.reads[kind] += 1;
            self.tally.bases[kind] += batch.letter_count(at) as u64;
        }
        let writer = self.outputs[kind].as_ref().and_then(|(form, _)| form.alignments());
        let Some(writer) = writer else { return Ok(()) };
        match tags.get(&values.map_or(0, |values| values[alignment.mate()])) {
            Some(tags) => writer.put_tagged(batch, at, tags, &mut texts[kind]),
            None => writer.put(batch, at, &mut texts[kind]),
        }
    }
}

impl Work for Worker<'_> {
    type Batch = RecordBatch;
    type Output = Texts;
    type Error = Error;

    fn work(
        &mut self,
        batch: &mut RecordBatch,
        turn: &Turn<'_, Texts, Error>,
    ) -> Result<Texts, Error> {
        let mut texts = turn.spare().unwrap_or_default();
        for at in 0..batch.len() {
            self.put(batch, at, &mut texts)?;
        }
        for (text, output) in texts.iter_mut().zip(&mut self.outputs) {
            if let Some((_, compressor)) = output {
                compressor.compress(text)?;
            }
        }
        Ok(texts)
    }
}

struct Writer([Option<SinkWriter>; 2]);

impl Writer {
    fn new(sinks: [Option<Sink>; 2], forms: &[Option<SinkForm>; 2]) -> Writer {
        let mut forms = forms.iter();
        Writer(sinks.map(|sink| {
            let form = forms.next().and_then(Option::as_ref);
            Some(SinkWriter::new(sink?, form?))
        }))
    }

    fn end(self) -> Result<Vec<Output>, Error> {
        self.0.into_iter().flatten().map(SinkWriter::end).collect()
    }
}

impl InOrderSink<Texts> for Writer {
    type Error = Error;

    fn write(&mut self, mut texts: Texts) -> Result<Option<Texts>, Error> {
        for (writer, text) in self.0.iter_mut().zip(&mut texts) {
            if let Some(writer) = writer {
                writer.write(text)?;
            }
            text.clear();
        }
        Ok(Some(texts))
    }
}
