//! Whole runs: reads from files to a file for each sample.

use std::time::Instant;

use merganser_alignments::{RecordOptions, TemplatePass};
use merganser_filter::Threshold;
use merganser_io::{
    CommentTags, Header, Input, Keep, OutputSet, ReadInput, Records, longest_record,
};
use merganser_run::engine::Engine;
use merganser_run::{Budget, Context, Shortage, Stages, Unit, peak_rss};

use super::assign::Assigner;
use super::output::{Writer, forms};
use super::worker::Worker;
use super::{BarcodeOptions, SampleCounts, SamplePaths, Samples};
use crate::Error;

/// The maximum number of records of a batch, and of bytes of their headers, letters and qualities. Compressed blocks
/// of the outputs end where batches do: each sample should have some tens of kilobytes in a batch.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = if cfg!(test) { 2000 } else { 4 << 20 };
/// The number of batches per worker that may be started before the one that is written next.
const AHEAD: u64 = 2;
/// The memory of a thread: batches, texts and tiles.
const THREAD: u64 = 13 * (4 << 20);
/// The memory of an output: the buffer of its file.
const OUTPUT: u64 = 1 << 20;
/// The memory of a barcode in a thread: its places in the windows of a tile.
const BARCODE: u64 = 512 * 8;
/// The maximum number of copies of a record in memory.
const COPIES: u64 = 8;

/// The results of demultiplexing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Demultiplexed {
    /// The reads of each sample.
    pub samples: Vec<SampleCounts>,
    /// The reads for which another sample has too few edits more than the best one.
    pub ambiguous: SampleCounts,
    /// The reads without the barcodes of a sample.
    pub none: SampleCounts,
    /// The reads of which trimming would leave no letter. They are refused, too.
    pub empty: SampleCounts,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The peak resident memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl Demultiplexed {
    pub(super) fn of_samples(samples: usize) -> Demultiplexed {
        let samples = vec![SampleCounts::default(); samples];
        Demultiplexed { samples, ..Demultiplexed::default() }
    }

    /// Returns the number of all reads.
    pub fn reads(&self) -> u64 {
        let refused = [self.ambiguous, self.none, self.empty];
        self.samples.iter().chain(&refused).map(|counts| counts.reads).sum()
    }

    fn plus(mut self, other: Demultiplexed) -> Demultiplexed {
        self.samples.iter_mut().zip(other.samples).for_each(|(one, other)| one.add(other));
        self.ambiguous.add(other.ambiguous);
        self.none.add(other.none);
        self.empty.add(other.empty);
        self
    }
}

/// Divides the reads of files among samples by their barcodes, and writes those of each sample, in their order, to a file
/// of its own. The files appear together at the end, also those of samples without reads.
///
/// A sample with one barcode has as many edits as the barcode has at the start of the read or of its reverse complement,
/// wherever there are fewer; one with two barcodes has those of both, one at the start of the read and one at that of
/// its reverse complement, in the better order. The edits of a barcode are the fewest of an alignment of all its letters
/// in the window. A read belongs to the sample with the fewest edits, if each barcode has at most those of `threshold`
/// and all other samples have at least `margin` edits more. Reads are not turned.
///
/// # Errors
/// If the options are invalid, a barcode would match everywhere or is longer than the window, there are no reads or too
/// little memory, the input is invalid, an output cannot be written, or the run is cancelled. No output appears then.
pub fn demultiplex(
    threshold: Threshold,
    options: &BarcodeOptions,
    samples: &Samples,
    reads: impl IntoIterator<Item = impl Into<Input>>,
    outputs: &SamplePaths,
    context: &Context,
) -> Result<Demultiplexed, Error> {
    let reads: Vec<Input> = reads.into_iter().map(Into::into).collect();
    let set = OutputSet::new();
    let how = (threshold, options);
    let outcome = demultiplex_in(how, samples, &reads, (outputs, &set), context)?;
    set.commit()?;
    Ok(outcome)
}

/// Divides reads like [`demultiplex`], to outputs of `set`, which the caller commits. The stage of the progress is
/// `search`, in bytes of input.
///
/// # Errors
/// Fails as [`demultiplex`] does.
pub fn demultiplex_in(
    (threshold, options): (Threshold, &BarcodeOptions),
    samples: &Samples,
    reads: &[Input],
    (outputs, set): (&SamplePaths, &OutputSet),
    context: &Context,
) -> Result<Demultiplexed, Error> {
    context.validate()?;
    let assigner = Assigner::new(threshold, options, samples)?;
    warn_of_close(&assigner, samples, context);
    let begun = Instant::now();
    let sinks = outputs.create(samples, set)?;
    let segments: Vec<ReadInput> = reads.iter().cloned().map(ReadInput::Single).collect();
    let pass = TemplatePass::of_text(&CommentTags::None);
    let record_options = record_options(&assigner, sinks.len(), &pass, context)?;
    let records = Records::open(&segments, record_options)?;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    progress.stage("search", Unit::Bytes, records.bytes_total());
    let (count, forms) = (samples.all().len(), forms(&sinks, &pass));
    let ahead = AHEAD * context.threads as u64;
    let engine = Engine::new(&records, Writer::new(sinks, &forms), ahead, progress, cancel);
    let worker = || Worker::new(&assigner, options, count, &forms);
    let workers = engine.run(context.threads, worker)?;
    let counts = workers.into_iter().map(Worker::into_counts);
    let mut outcome = counts.fold(Demultiplexed::of_samples(count), Demultiplexed::plus);
    let writer = engine.finish()?;
    if outcome.reads() == 0 {
        let problem = "the inputs have no reads: check the files";
        return Err(Error::Input(problem.to_owned()));
    }
    outcome.stages.add("search", begun.elapsed());
    outcome.stages.add("sync", writer.finish()?);
    progress.finish();
    outcome.skipped_alignments = records.skipped_alignments();
    outcome.peak_memory = peak_rss();
    Ok(outcome)
}

/// Warns if reads of two samples are ambiguous with few errors or none.
fn warn_of_close(assigner: &Assigner, samples: &Samples, context: &Context) {
    let Some((one, other, edits)) = assigner.closest() else { return };
    let [one, other] = [one, other].map(|number| samples.all()[number].name());
    context.warnings.push(format!(
        "{}: the barcodes of {one} and {other} differ by {edits} edits, and the margin is {}: many of their reads are ambiguous",
        samples.path().display(),
        assigner.margin(),
    ));
}

fn record_options(
    assigner: &Assigner,
    outputs: usize,
    pass: &TemplatePass<'_>,
    context: &Context,
) -> Result<RecordOptions, Error> {
    let thread = THREAD + assigner.barcodes.len() as u64 * BARCODE;
    let budget = Budget::of_run(context, thread).with(outputs as u64 * OUTPUT);
    let what = format_args!("{} threads and {outputs} outputs need", context.threads);
    let left = budget.check(what, Shortage::FEWER_THREADS)?;
    Ok(RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: BATCH_BYTES,
        workers: context.threads,
        max_record: longest_record(left + COPIES * BATCH_BYTES as u64, COPIES),
        keep_alignments: pass.keep().clone(),
        cancel: context.cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    })
}
