//! Filters reads with a host's set: keeps or removes them, in the order of the input.

mod confirm;
mod mask;
mod output;
mod twice;
mod worker;

use std::path::Path;
use std::time::Instant;

pub use merganser_alignments::{Compression, ReadFormat, Sink};
use merganser_alignments::{RecordOptions, SinkForm, TemplatePass};
use merganser_io::{Header, Keep, Needs, OutputSet, ReadInput, Records};
use merganser_run::engine::Engine;
use merganser_run::{Budget, ConfigError, Context, JobPlan, Shortage, Stages, Unit, peak_rss};

use crate::word::by_word;
use crate::{Config, Confirmed, Error, Haplotypes, MinimizerLookup, Params};
use confirm::Confirmer;
pub use output::{OutputPaths, Outputs, mate_paths};
use output::{OutputText, Writer};
use worker::{Tally, Worker};

/// The maximum number of records of a batch, and of bytes of their headers, letters and qualities. Compressed blocks
/// of the outputs end where batches do.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = 2 << 20;
/// The number of batches per worker that may be started before the one that is written next.
const AHEAD: u64 = 2;
/// The memory of a thread without minimizers: batches, codes and texts.
const THREAD: u64 = 13 * BATCH_BYTES as u64;
/// The maximum number of copies of a record in memory without minimizers: as it was read, twice, as codes and text, and
/// compressed.
const COPIES: u64 = 8;

/// Returns the memory of a thread in bytes, and the maximum number of copies of a record.
fn thread(params: Params) -> (u64, u64) {
    // Of w + 1 k-mers, about two are minimizers. Each has a word and two indices, and in a long record also a word among
    // the hits and one among the sorted minimizers.
    let of_letter = |words: u64| {
        let minimizer = words * params.word_bytes() + 2 * size_of::<u32>() as u64;
        (2 * minimizer).div_ceil(params.w() as u64 + 1)
    };
    (THREAD + of_letter(1) * BATCH_BYTES as u64, COPIES + of_letter(3))
}

/// A host, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Host<'h> {
    /// Its minimizers.
    pub minimizers: &'h MinimizerLookup,
    /// Its haplotypes, against which the reads that the minimizers keep are mapped.
    pub haplotypes: Option<&'h Haplotypes>,
}

impl<'h> From<&'h MinimizerLookup> for Host<'h> {
    fn from(minimizers: &'h MinimizerLookup) -> Host<'h> {
        Host { minimizers, haplotypes: None }
    }
}

impl<'h> Host<'h> {
    /// Returns the haplotypes that a run searches.
    fn searched(self, config: &Config) -> Result<Option<&'h Haplotypes>, Error> {
        match self.haplotypes {
            Some(haplotypes) => {
                check_haplotypes(config)?;
                Ok(Some(haplotypes))
            }
            None => Ok(None),
        }
    }
}

/// Checks that haplotypes can be used with a configuration.
fn check_haplotypes(config: &Config) -> Result<(), Error> {
    if config.keep || config.mask.is_some() {
        let problem =
            "`keep` and `mask` keep the host's reads, and haplotypes confirm that none are kept";
        return Err(Error::Config(ConfigError::new(problem)));
    }
    Ok(())
}

/// The outcome of a run. A pair counts as two reads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of reads.
    pub records: u64,
    /// The number of bases of all reads.
    pub bases: u64,
    /// The number of reads that were kept.
    pub kept_records: u64,
    /// The number of bases of the kept reads.
    pub kept_bases: u64,
    /// The number of reads of which stretches were masked. All reads are kept then.
    pub masked_records: u64,
    /// The number of bases that were masked.
    pub masked_bases: u64,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
    /// The findings of the search in the host's haplotypes, if there was one.
    pub confirmed: Option<Confirmed>,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The peak resident memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// Filters reads with a host's set, one input after the other, and writes those that are kept, and the others if
/// requested, in their order, to the files of `outputs`, which appear at the end. The bytes that are written do not
/// depend on `context`. The stage of the progress is `filter`, in bytes of input.
///
/// ```
/// use merganser_deplete::{Config, MinimizerLookup, OutputPaths, Params, build, run};
/// use merganser_run::Context;
///
/// let folder = tempfile::tempdir()?;
/// let path = |name: &str| folder.path().join(name);
/// let host = "GATTACAGATCCCGTAACGTGTGACCATTAGACCCATTGACAGTTTGA";
/// std::fs::write(path("host.fa"), format!(">host\n{host}\n"))?;
/// std::fs::write(path("reads.fa"), format!(">1\n{host}\n>2\n{}\n", "CTGAA".repeat(9)))?;
///
/// let context = Context::new();
/// let set = build(Params::new(15, 5)?, [path("host.fa")], &context)?;
/// let outputs = OutputPaths::new(path("kept.fa"));
/// let outcome = run(&Config::default(), &MinimizerLookup::from(&set), [path("reads.fa")], &outputs, &context)?;
/// assert_eq!((outcome.records, outcome.kept_records), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the configuration is invalid, there is too little memory, the input is invalid (the first error in the input is
/// returned), an output cannot be written, or the run is cancelled. Then there are no outputs.
pub fn run<'h>(
    config: &Config,
    host: impl Into<Host<'h>>,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    outputs: &OutputPaths,
    context: &Context,
) -> Result<Outcome, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let set = OutputSet::new();
    let outcome = run_in(config, host, &reads, (outputs, &set), context)?;
    set.commit()?;
    Ok(outcome)
}

/// Filters reads like [`run()`], to outputs of `set`, which the caller commits.
///
/// If the outputs are alignments (SAM, BAM or CRAM), all alignments of a template are kept or removed together, in their
/// order and as they are in the input. If they do not lie side by side in a regular file, it is read twice, and mates that do
/// not lie side by side are decided one by one: a template matches if one of its reads does.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_in<'h>(
    config: &Config,
    host: impl Into<Host<'h>>,
    segments: &[ReadInput],
    (outputs, set): (&OutputPaths, &OutputSet),
    context: &Context,
) -> Result<Outcome, Error> {
    let host = host.into();
    match outputs.are_alignments()? {
        true => twice::run(config, host, segments, (outputs, set), context),
        false => run_with(config, host, segments, outputs.create(set)?, context),
    }
}

/// Filters reads like [`run()`], to open outputs. Alignments of a template must lie side by side if the outputs are
/// alignments.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with<'h>(
    config: &Config,
    host: impl Into<Host<'h>>,
    segments: &[ReadInput],
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    let pass = match outputs.are_alignments() {
        true => TemplatePass::of_templates(segments),
        false => TemplatePass::of_text(&outputs.tags),
    };
    run_pass(config, host.into(), (segments, &pass), outputs, context)
}

fn run_pass(
    config: &Config,
    host: Host<'_>,
    (segments, pass): (&[ReadInput], &TemplatePass<'_>),
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate()?;
    context.validate()?;
    let haplotypes = host.searched(config)?;
    if let Some(haplotypes) = haplotypes {
        haplotypes.index().check(context.threads, cancel)?;
    }
    let begun = Instant::now();
    let records = Records::open(segments, options(config, host, pass, context)?)?;
    progress.stage("filter", Unit::Bytes, records.bytes_total());
    let threads = context.threads;
    let shape = outputs.shape(pass);
    let ahead = AHEAD * threads as u64;
    let engine = Engine::new(&records, Writer::new(outputs, &shape), ahead, progress, cancel);
    let confirmer = || haplotypes.map(|haplotypes| Confirmer::new(haplotypes, cancel));
    let (tallies, found): (Vec<Tally>, Vec<Option<Confirmed>>) = by_word!(&host.minimizers.0, host => {
        let worker = || Worker::new(config, host, pass, confirmer(), &shape);
        engine.run(threads, worker)?.into_iter().map(Worker::into_counts).unzip()
    });
    let writer = engine.finish()?;
    let found = found.iter().flatten();
    let confirmed = haplotypes.map(|_| found.fold(Confirmed::default(), Confirmed::plus));
    let tally = tallies.into_iter().fold(Tally::default(), Tally::plus);
    let mut stages = Stages::default();
    stages.add("filter", begun.elapsed());
    stages.add("sync", writer.finish()?);
    progress.finish();
    context.warnings.expect_reads(tally.records);
    Ok(Outcome {
        records: tally.records,
        bases: tally.bases,
        kept_records: tally.kept_records,
        kept_bases: tally.kept_bases,
        masked_records: tally.masked_records,
        masked_bases: tally.masked_bases,
        skipped_alignments: pass.skipped(records.skipped_alignments()),
        confirmed,
        stages,
        peak_memory: peak_rss(),
    })
}

fn options(
    config: &Config,
    host: Host<'_>,
    pass: &TemplatePass<'_>,
    context: &Context,
) -> Result<RecordOptions, Error> {
    Ok(RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: BATCH_BYTES,
        workers: context.threads,
        max_record: longest_record(host, pass, context)?,
        any_names: config.any_names,
        find_pairs: true,
        keep_alignments: pass.keep().clone(),
        needs: Some(Needs { bases: host.minimizers.params().bases(), uracil: false }),
        cancel: context.cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    })
}

/// Determines how [`run()`] would filter reads with the set at the path `set`, and `haplotypes` if they are given: with how
/// much memory. Only the header of the set is read.
///
/// # Errors
/// If the configuration is invalid, `set` is not a set, or there is too little memory.
pub fn plan_run(
    config: &Config,
    set: impl AsRef<Path>,
    haplotypes: Option<&Haplotypes>,
    context: &Context,
) -> Result<JobPlan, Error> {
    config.validate()?;
    context.validate()?;
    haplotypes.map_or(Ok(()), |_| check_haplotypes(config))?;
    let (params, bytes) = MinimizerLookup::check_room(set.as_ref(), context)?;
    let budget = budget(params, bytes, haplotypes, context);
    let what = format_args!("{} threads and the host's minimizers need", context.threads);
    budget.check(what, Shortage::FEWER_THREADS)?;
    Ok(JobPlan::on(Vec::new()).with_memory(budget.needed()))
}

/// Returns the budget of a run with a set whose look-ups take `minimizers` bytes.
fn budget(
    params: Params,
    minimizers: u64,
    haplotypes: Option<&Haplotypes>,
    context: &Context,
) -> Budget {
    let of_haplotypes = |haplotypes: &Haplotypes| haplotypes.bytes(context.threads);
    Budget::of_run(context, thread(params).0)
        .with(minimizers)
        .with(haplotypes.map_or(0, of_haplotypes))
}

/// Returns the maximum size of a record in bytes.
fn longest_record(
    host: Host<'_>,
    pass: &TemplatePass<'_>,
    context: &Context,
) -> Result<usize, Error> {
    let (params, bytes) = (host.minimizers.params(), host.minimizers.bytes());
    let copies = thread(params).1;
    let budget = budget(params, bytes, host.haplotypes, context);
    let budget = match pass.collects_names() {
        true => budget.with(context.budget() / 2),
        false => budget,
    };
    let what = format_args!("{} threads and the host's minimizers need", context.threads);
    let left = budget.check(what, Shortage::FEWER_THREADS)?;
    // A batch always has room for one record of its size.
    Ok(merganser_io::longest_record(left + copies * BATCH_BYTES as u64, copies))
}

/// The outputs that texts are made for.
#[derive(Clone, Debug)]
struct Shape {
    /// The outputs for kept reads: one output, or one each for first and second mates.
    kept: Vec<SinkForm>,
    /// The outputs for the other reads; empty if they are not written.
    others: Vec<SinkForm>,
}

impl Shape {
    fn all(&self) -> impl Iterator<Item = &SinkForm> {
        self.kept.iter().chain(&self.others)
    }
}

/// The texts of a batch, one for each output.
type Parts = Vec<OutputText>;
