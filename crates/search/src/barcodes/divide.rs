//! The run that demultiplexing and trimming share: reads from files, to outputs that a rule chooses.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use merganser_alignments::{
    Compression, Compressor, ReadFormat, RecordOptions, Sink, SinkForm, TemplatePass,
};
use merganser_io::{
    CommentTags, Header, Input, Keep, OutputSet, ReadInput, Record, RecordBatch, Records,
    longest_record,
};
use merganser_run::engine::{Engine, Turn, Work};
use merganser_run::{
    Budget, ConfigError, Context, Shortage, Stages, Unit, peak_rss, raise_open_file_limit,
};

use super::finder::{Barcode, Finder, Place, WINDOWS};
use super::writer::Writer;
use crate::Error;
use crate::letters::complement_letter;
use crate::tile::Stretch;

/// The maximum number of records of a batch, and of bytes of their headers, letters and qualities. Compressed blocks
/// of the outputs end where batches do: each sample should have some tens of kilobytes in a batch.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = if cfg!(test) { 2000 } else { 4 << 20 };
/// The number of batches per worker that may be started before the one that is written next.
const AHEAD: u64 = 2;
/// The memory of a thread: batches, texts and tiles.
const THREAD: u64 = 13 * (4 << 20);
/// The memory of an output: the buffer of its file, and its compressor.
const OUTPUT: u64 = 1 << 20;
/// The memory of a barcode in a thread: its places in the windows of a tile.
const BARCODE: u64 = WINDOWS as u64 * size_of::<Place>() as u64;
/// The maximum number of copies of a record in memory.
const COPIES: u64 = 8;
/// The number of files besides the outputs that may be open: inputs, lists, streams.
const OTHER_FILES: u64 = 32;
/// The capacity of a text that is kept for reuse, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// The files that a run reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct ReadFiles<'f> {
    /// The reads: FASTA, FASTQ or alignments.
    pub reads: &'f [Input],
    /// The outputs: FASTQ, or FASTA of reads without qualities. Names in `.gz` and `.zst` are compressed.
    pub outputs: &'f [PathBuf],
    /// The set in which the outputs are created.
    pub set: &'f OutputSet,
}

/// The decision about a read: the number of the output, and the letters that are written there. `None` leaves the read
/// out.
pub(super) type Fate = Option<(usize, Range<usize>)>;

/// A job's decisions about reads, with its counts. Each worker has its own.
pub(super) trait Rule: Send {
    /// Decides about a read of `letters` letters, and counts it. `ends` are the best places of all barcodes at the
    /// start of the read, and at that of its reverse complement.
    fn decide(&mut self, ends: [&[Place]; 2], letters: usize) -> Fate;

    /// Whether reads without letters are written with a single N of quality 0.
    fn fills_empty(&self) -> bool {
        false
    }
}

/// The barcodes of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searched<'b> {
    pub(super) barcodes: &'b [Barcode],
    pub(super) window: usize,
}

/// The results that all jobs have.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran {
    pub(super) skipped_alignments: u64,
    pub(super) stages: Stages,
    pub(super) peak_memory: Option<u64>,
}

/// Divides the reads by the rules of workers, which are returned. All outputs are written, also those without reads. The
/// stage of the progress is `search`, in bytes of input.
pub(super) fn divide<R: Rule>(
    searched: Searched<'_>,
    files: ReadFiles<'_>,
    rule: impl Fn() -> R + Sync,
    context: &Context,
) -> Result<(Vec<R>, Ran), Error> {
    context.validate()?;
    let begun = Instant::now();
    let pass = TemplatePass::of_text(&CommentTags::None);
    let options = record_options(searched.barcodes.len(), files.outputs.len(), &pass, context)?;
    let sinks = create(files)?;
    let forms: Vec<SinkForm> = sinks.iter().map(|sink| sink.form(&pass, "")).collect();
    let kinds = Kinds::new(files.outputs);
    let segments: Vec<ReadInput> = files.reads.iter().cloned().map(ReadInput::Single).collect();
    let records = Records::open(&segments, options)?;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    progress.stage("search", Unit::Bytes, records.bytes_total());
    let ahead = AHEAD * context.threads as u64;
    let engine = Engine::new(&records, Writer::new(sinks, &forms), ahead, progress, cancel);
    let worker = || Worker {
        rule: rule(),
        window: searched.window,
        finder: Finder::new(searched.barcodes),
        kinds: &kinds,
        compressors: kinds.firsts.iter().map(|&output| forms[output].compressor()).collect(),
        tails: Vec::new(),
    };
    let workers = engine.run(context.threads, worker)?;
    let writer = engine.finish()?;
    let mut stages = Stages::default();
    stages.add("search", begun.elapsed());
    stages.add("sync", writer.finish()?);
    progress.finish();
    let skipped_alignments = records.skipped_alignments();
    let rules = workers.into_iter().map(|worker| worker.rule).collect();
    Ok((rules, Ran { skipped_alignments, stages, peak_memory: peak_rss() }))
}

/// Creates the outputs.
fn create(files: ReadFiles<'_>) -> Result<Vec<Sink>, Error> {
    let has_alignments = |path: &&PathBuf| {
        ReadFormat::of_name(path).is_some_and(|format| format.of_alignments().is_some())
    };
    if let Some(path) = files.outputs.iter().find(has_alignments) {
        let path = path.display();
        let problem = format!("{path}: these reads are written as FASTQ or FASTA: name it .fq.gz");
        return Err(Error::Config(ConfigError::new(problem)));
    }
    let (count, limit) = (files.outputs.len(), raise_open_file_limit());
    if count as u64 + OTHER_FILES > limit {
        return Err(Error::Input(format!(
            "{count} outputs are open at the same time, and the system allows {limit} files: raise it (ulimit -n)"
        )));
    }
    let sink = |path: &PathBuf| Ok(Sink::create(files.set, path, ReadFormat::Fastq)?);
    files.outputs.iter().map(sink).collect()
}

fn record_options(
    barcodes: usize,
    outputs: usize,
    pass: &TemplatePass<'_>,
    context: &Context,
) -> Result<RecordOptions, Error> {
    let budget = Budget::of_run(context, THREAD + barcodes as u64 * BARCODE);
    let what = format_args!("{} threads and {outputs} outputs need", context.threads);
    let left = budget.with(outputs as u64 * OUTPUT).check(what, Shortage::FEWER_THREADS)?;
    Ok(RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: BATCH_BYTES,
        workers: context.threads,
        // A batch always has room for one record of its size.
        max_record: longest_record(left + COPIES * BATCH_BYTES as u64, COPIES),
        keep_alignments: pass.keep().clone(),
        cancel: context.cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    })
}

/// The compressions of outputs. Outputs with the same one share the compressor of a worker.
struct Kinds {
    /// The first output of each compression.
    firsts: Vec<usize>,
    /// The number of the compression of each output.
    of: Vec<usize>,
}

impl Kinds {
    fn new(outputs: &[PathBuf]) -> Kinds {
        let mut known: Vec<Compression> = Vec::new();
        let mut kinds = Kinds { firsts: Vec::new(), of: Vec::new() };
        for (output, path) in outputs.iter().enumerate() {
            let own = Compression::of(path);
            let kind = known.iter().position(|&one| one == own).unwrap_or_else(|| {
                known.push(own);
                kinds.firsts.push(output);
                known.len() - 1
            });
            kinds.of.push(kind);
        }
        kinds
    }
}

/// The texts of a batch, one for each output.
pub(super) type Parts = Vec<Vec<u8>>;

/// A worker with its working memory.
struct Worker<'r, R> {
    rule: R,
    window: usize,
    finder: Finder<'r>,
    kinds: &'r Kinds,
    compressors: Vec<Compressor>,
    /// The windows at the ends of reads, as their reverse complements.
    tails: Vec<u8>,
}

impl<R: Rule> Worker<'_, R> {
    /// Finds the barcodes in up to `WINDOWS / 2` reads. Windows 2i and 2i + 1 are those of read i.
    fn find(&mut self, batch: &RecordBatch, reads: Range<usize>) {
        self.tails.clear();
        for at in reads.clone() {
            let tail = batch.letters(at).iter().rev().take(self.window);
            self.tails.extend(tail.map(|&letter| complement_letter(letter)));
        }
        let mut tails = &self.tails[..];
        let mut windows = Vec::with_capacity(WINDOWS);
        for at in reads {
            let letters = batch.letters(at);
            let length = letters.len().min(self.window);
            let (tail, rest) = tails.split_at(length);
            tails = rest;
            windows.extend(
                [&letters[..length], tail].map(|letters| Stretch { letters, begins: true }),
            );
        }
        self.finder.find(&windows);
    }

    /// Appends a read to the text of its output.
    fn put(&mut self, record: &Record<'_>, ends: [usize; 2], parts: &mut Parts) {
        let ends = ends.map(|window| self.finder.places(window));
        let Some((output, kept)) = self.rule.decide(ends, record.letters.len()) else { return };
        let (letters, quality) = match kept.is_empty() && self.rule.fills_empty() {
            true => (&b"N"[..], record.quality.map(|_| &b"!"[..])),
            false => {
                let quality = record.quality.map(|quality| &quality[kept.clone()]);
                (&record.letters[kept], quality)
            }
        };
        Record { letters, quality, ..*record }.write(&mut parts[output]);
    }
}

impl<R: Rule> Work for Worker<'_, R> {
    type Batch = RecordBatch;
    type Output = Parts;
    type Error = Error;

    fn work(
        &mut self,
        batch: &mut RecordBatch,
        turn: &Turn<'_, Parts, Error>,
    ) -> Result<Parts, Error> {
        let mut parts = turn.spare().unwrap_or_default();
        parts.resize_with(self.kinds.of.len(), Vec::new);
        parts.iter_mut().for_each(|part| part.shrink_to(MAX_KEPT));
        for first in (0..batch.len()).step_by(WINDOWS / 2) {
            let reads = first..batch.len().min(first + WINDOWS / 2);
            self.find(batch, reads.clone());
            for (at, read) in reads.enumerate() {
                self.put(&batch.record(read), [2 * at, 2 * at + 1], &mut parts);
            }
        }
        for (part, &kind) in parts.iter_mut().zip(&self.kinds.of) {
            self.compressors[kind].compress(part)?;
        }
        Ok(parts)
    }
}
