//! Whole runs: texts from files, hits to a file.

mod gpus;
mod measure;
mod sink;
mod texts;
mod worker;

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, thread};

use merganser_alignments::RecordOptions;
use merganser_io::{
    Header, Input, Keep, OutputSet, ReadInput, Records, longest_record, text_bytes,
};
use merganser_run::engine::Engine;
use merganser_run::{
    Budget, Context, Shortage, Stages, Unit, Warnings, counted, peak_rss, start_scoped,
};
use merganser_seq::simd::Level;

use crate::letters::ANY;
use crate::output::check_names;
use crate::places::Overlap;
use crate::queries::Queries;
use crate::seeds::{Limits, Seeds, Way};
use crate::{Config, Error, Format, OffTargets, Pattern, Writer};
use gpus::{ByGpus, Gpus};
use measure::measure;
use sink::Sink;
pub(crate) use sink::{Receiver, SequenceHits};
pub(crate) use texts::with_indexes;
use worker::{BatchPlaces, Worker};

/// The number of letters of a stretch of a long sequence: a tile of 512 lanes.
const STRETCH: usize = if cfg!(any(test, fuzzing)) { 150 } else { 480 << 10 };
/// The number of bytes of a batch of shorter records, and of the text that is parsed at a time.
const BATCH_BYTES: usize = if cfg!(any(test, fuzzing)) { 100 } else { 512 << 10 };
/// The number of records of a batch.
const BATCH_RECORDS: usize = 16 << 10;
/// The number of batches per worker that may be begun before the one that is written next.
const AHEAD: u64 = 2;
/// The memory of a thread in bytes: a batch and its text, a tile of a thousand columns with fifteen vectors of 64 bytes
/// each, and [`MIN_ENDS`].
const THREAD: u64 = 34 << 20;
/// The number of ends of a batch for which every run has enough memory.
const MIN_ENDS: u64 = 4 << 10;
/// The maximum number of ends of a batch, whatever the memory is.
const MAX_ENDS: u64 = 16 << 20;
/// The memory of an end in bytes: as a kernel finds it, sorted, and as a hit with its operations and letters.
const END: u64 = 300;
/// The memory of a pattern in bytes: its name, its letters and their sets of bases, its queries and its counts.
const PATTERN: u64 = 1 << 10;
/// The part of the memory that the table of off-targets may take, more than which would be too much beside the rest: only
/// long PAMs that match everything have many lines.
const TABLE_SHARE: u64 = 16;
/// The number of copies of a record in memory: the text, the record, and its letters in tiles.
const COPIES: u64 = 4;

/// The results of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of texts: sequences or reads.
    pub texts: u64,
    /// The number of letters of all texts.
    pub letters: u64,
    /// The number of hits of each pattern, by number of edits from 0 on.
    pub hits: Vec<Vec<u64>>,
    /// The number of hits of each pattern by PAM and edits, if [counted](Writer::count_off_targets).
    pub off_targets: Option<OffTargets>,
    /// The number of amplicons, if hits are those of primers.
    pub amplicons: Option<u64>,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
    /// How threads searched, and why.
    pub ways: Vec<Way>,
    /// The number of letters that GPUs searched.
    pub gpu_letters: u64,
    /// The GPUs that were used.
    pub devices: Vec<merganser_gpu::DeviceInfo>,
    /// The time of kernels, summed over all streams, which run concurrently.
    pub kernels: Duration,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The peak resident memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl Outcome {
    /// Returns the number of all hits.
    pub fn total(&self) -> u64 {
        self.hits.iter().flatten().sum()
    }
}

/// Searches patterns in the sequences or reads of files, and writes all hits to the file `output`, whose name decides the
/// format: TSV, or BED, SAM or BAM.
///
/// # Errors
/// Fails as [`run_with`] does.
pub fn run(
    config: &Config,
    patterns: &[Pattern],
    texts: impl IntoIterator<Item = impl Into<Input>>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<Outcome, Error> {
    let texts: Vec<Input> = texts.into_iter().map(Into::into).collect();
    let (output, set) = (output.as_ref(), OutputSet::new());
    let writer = Writer::new(Format::of_name(output), set.output(output)?);
    let outcome = run_with(config, patterns, &texts, writer, context)?;
    set.commit()?;
    Ok(outcome)
}

/// Searches patterns in the sequences or reads of files, and writes all hits in the order of the texts, then of start,
/// end, pattern and strand. A text may be an index of `merganser index`, whose sequences are searched. The bytes that are
/// written do not depend on `context`. The progress has one stage, in bytes of input; SAM and BAM have one more before it,
/// in which the lengths of the texts are read.
///
/// # Errors
/// If the configuration is invalid, a pattern would match everywhere, a requested GPU cannot be used, there is too little
/// memory, the input is invalid (the first error in the input is returned), the output cannot be written, or the run is
/// cancelled. No output appears then.
pub fn run_with(
    config: &Config,
    patterns: &[Pattern],
    texts: &[Input],
    mut writer: Writer,
    context: &Context,
) -> Result<Outcome, Error> {
    context.validate()?;
    let texts = &with_indexes(texts)?[..];
    writer.prepare(config, patterns, budget(patterns, context).left() / TABLE_SHARE)?;
    let mut measured = Duration::ZERO;
    if writer.format().is_of_alignments() {
        let begun = Instant::now();
        // Checked before the texts are read for the first time.
        gpus::check(&Queries::new(config, patterns)?, context)?;
        check_names(patterns)?;
        writer.measured(measure(texts, budget(patterns, context), context)?, config);
        measured = begun.elapsed();
    }
    let (mut outcome, mut writer) = run_to(config, patterns, texts, writer, context)?;
    outcome.off_targets = writer.take_off_targets();
    outcome.stages.add("sync", writer.finish()?);
    outcome.stages.add("measure", measured);
    Ok(outcome)
}

/// Searches patterns in the sequences or reads of files, and passes their hits to a receiver, which is returned.
pub(crate) fn run_to<R: Receiver + Send>(
    config: &Config,
    patterns: &[Pattern],
    texts: &[Input],
    receiver: R,
    context: &Context,
) -> Result<(Outcome, R), Error> {
    context.validate()?;
    let queries = Queries::new(config, patterns)?;
    warn_of_ns(config, patterns, &context.warnings);
    warn_of_pams(config, patterns, &context.warnings);
    let begun = Instant::now();
    let segments: Vec<ReadInput> = texts.iter().cloned().map(ReadInput::Single).collect();
    let budget = budget(patterns, context);
    let (seeds, ways) = plan_seeds(&queries, texts, budget, context);
    let budget = budget.with(seeds.bytes());
    let gpus = Gpus::choose(&queries, &ways, texts, budget, context)?;
    let budget = budget.with(gpus.as_ref().map_or(0, Gpus::host_bytes));
    let what = format_args!("{} threads need", context.threads);
    let left = budget.check(what, Shortage::FEWER_THREADS)?;
    let ahead = AHEAD * context.threads as u64 + gpus.as_ref().map_or(0, Gpus::batches);
    // Half of the memory is for hits of all batches, and half for long records.
    let batches = ahead + context.threads as u64;
    let most = (MIN_ENDS + left / 2 / batches / END).min(MAX_ENDS) as usize;
    let options = options(Overlap::of(&queries), left / 2, context);
    let records = Records::open(&segments, options)?;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    progress.stage("search", Unit::Bytes, records.bytes_total());
    let keeps_letters = receiver.wants_letters();
    let sink = Sink::new(&queries, patterns, receiver);
    let engine = Engine::new(&records, sink, ahead, progress, cancel);
    let make = || Worker::new(&queries, Some(&seeds), keeps_letters, most);
    let by_gpus = match gpus {
        None => engine.run(context.threads, make).map(|_| ByGpus::default())?,
        Some(gpus) => {
            search_with(&gpus, &engine, context.threads, make)?;
            gpus.by_gpus()
        }
    };
    let (mut outcome, receiver) = engine.finish()?.into_outcome();
    outcome.ways = ways;
    (outcome.devices, outcome.kernels) = (by_gpus.devices, by_gpus.kernels);
    outcome.stages.add("search", begun.elapsed());
    progress.finish();
    outcome.skipped_alignments = records.skipped_alignments();
    outcome.peak_memory = peak_rss();
    Ok((outcome, receiver))
}

/// The usual number of letters of a guide.
const GUIDE: usize = 20;
/// The chance below which guides do not all have the PAM by accident.
const RARE: f64 = 1e-3;

/// Warns of patterns that match everywhere because of their Ns. With a PAM, such patterns find all its sites.
fn warn_of_ns(config: &Config, patterns: &[Pattern], warnings: &Warnings) {
    for pattern in patterns.iter().filter(|_| !config.is_anchored()) {
        let others = pattern.sets().iter().filter(|&&bases| bases != ANY).count();
        let edits = config.threshold.edits(pattern.letters().len());
        if edits >= others {
            warnings.push(format!(
                "pattern {} matches everywhere: {} other than N, and {} allowed",
                pattern.name(),
                counted(others as u64, "letter"),
                counted(edits as u64, "edit")
            ));
        }
    }
}

/// Warns if all guides have the PAM at the end where the text must have it, too, as if they included it: then few sites are
/// found, and often none. By chance, single guides of the usual length do so.
fn warn_of_pams(config: &Config, patterns: &[Pattern], warnings: &Warnings) {
    let Some(pam) = &config.pam else { return };
    let first = config.pam_first;
    let chance: f64 = patterns.iter().map(|_| pam.chance()).product();
    let is_longer = patterns.iter().all(|pattern| pattern.letters().len() == GUIDE + pam.length());
    if (is_longer || chance < RARE) && patterns.iter().all(|guide| pam.is_in(guide.sets(), first)) {
        warnings.push(format!(
            "all patterns {} with the PAM {pam}, which the text must have once more beside them: leave it out of the \
             patterns",
            if first { "begin" } else { "end" }
        ));
    }
}

/// Searches all batches on workers and GPUs.
fn search_with<'q, R: Receiver + Send>(
    gpus: &Gpus<'_>,
    engine: &Engine<'_, Records, BatchPlaces, Sink<'_, R>>,
    threads: usize,
    make: impl Fn() -> Worker<'q> + Sync,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let (ready, made) = mpsc::channel::<()>();
        // CUDA starts while the first batches are read and searched. If it fails, the run fails.
        start_scoped(scope, move || {
            if let Err(error) = gpus.make() {
                engine.fail(0, error);
                gpus.stop();
            }
            drop(ready);
        })?;
        // For tests of GPUs, whose results must not depend on the time that they take to start.
        if env::var_os("MERGANSER_TEST_GPUS_ALONE").is_some() {
            let _ = made.recv();
        }
        let workers = engine.run_on(threads, Some(gpus), make);
        gpus.stop();
        workers.map(drop)
    })
}

/// Chooses the way in which queries are found. Tables take at most half of the memory that is left.
fn plan_seeds(
    queries: &Queries,
    texts: &[Input],
    budget: Budget,
    context: &Context,
) -> (Seeds, Vec<Way>) {
    let limits =
        Limits { letters: text_bytes(texts), memory: budget.left() / 2, threads: context.threads };
    Seeds::plan(queries, limits, Level::best())
}

/// Returns the budget of threads and patterns.
fn budget(patterns: &[Pattern], context: &Context) -> Budget {
    Budget::of_run(context, THREAD).with(patterns.len() as u64 * PATTERN)
}

/// Returns the options of the reader, with `left` bytes for long records.
fn options(overlap: Overlap, left: u64, context: &Context) -> RecordOptions {
    RecordOptions {
        keep: Keep { header: Header::Name, qualities: false },
        batch_records: BATCH_RECORDS,
        batch_bytes: BATCH_BYTES,
        chunk_bytes: BATCH_BYTES,
        workers: context.threads,
        max_record: longest_record(left, COPIES),
        // The short stretches of tests must still be longer than what they share.
        stretches: Some((STRETCH.max(2 * overlap.letters()), overlap.letters())),
        cancel: context.cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    }
}
