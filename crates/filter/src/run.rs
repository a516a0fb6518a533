//! Whole runs: the order of the stages, and the choice of the backend.

mod gpus;
mod planned;
mod work;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use merganser_alignments::ReaderOptions;
use merganser_io::{Input, OutputSet, text_bytes};
use merganser_run::engine::Engine;
use merganser_run::{
    Budget, Cancel, Context, Progress, Shortage, Stages, Unit, Work, peak_rss, start_scoped,
    thousands,
};

use crate::output::DecisionText;
use crate::source::PairSource;
use crate::{Config, Error, Filter, Format, Method, Writer};
use gpus::{ByGpus, Gpus};
pub use planned::plan_run;
use work::{Tally, Worker};

/// The results of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of pairs.
    pub records: u64,
    /// The number of secondary and supplementary alignments in SAM, BAM and CRAM inputs, which are skipped.
    pub skipped_alignments: u64,
    /// Times of the stages. `filter`: reading, deciding and writing. `sync`: until the disk confirmed the
    /// outputs.
    pub stages: Stages,
    /// The GPUs that were used.
    pub devices: Vec<merganser_gpu::DeviceInfo>,
    /// The peak memory of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The number of accepted pairs, including undefined ones.
    pub accepted: u64,
    /// The number of pairs that were accepted as undefined because of ambiguous letters.
    pub undefined: u64,
    /// The number of accepted pairs that are not undefined, by their number of edits from 0 on (an estimate,
    /// except with the exact method). The last entry is for the largest number of edits.
    pub edits: Vec<u64>,
    /// The number of pairs that the exact method decided because the configured method does not define them.
    pub exact_instead: u64,
    /// The comparison with the exact method, if [`Config::verify`] is set.
    pub verified: Option<Verified>,
    /// The number of pairs that GPUs decided.
    pub gpu_pairs: u64,
    /// The time of kernels, summed over all streams, which run concurrently.
    pub kernels: Duration,
}

/// A comparison of the decisions with those of the exact method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of pairs that the exact method accepts.
    pub exact_accepted: u64,
    /// The number of accepted pairs with more edits than the threshold allows.
    pub false_accepts: u64,
    /// The number of rejected pairs within the threshold.
    pub false_rejects: u64,
}

/// The maximum size of a block without GPUs, in bytes of text: large enough to make the cost of a turn
/// negligible.
const MAX_BLOCK: u64 = 1 << 20;
/// The maximum size of a block with GPUs, in bytes of text; larger because each launch takes some time.
const MAX_GPU_BLOCK: u64 = 4 << 20;
/// The minimum size of a block, in bytes of text, when memory is short.
const MIN_BLOCK: u64 = 64 << 10;
/// The memory of a thread that does not depend on the size of blocks, in bytes.
const THREAD: u64 = 1 << 20;
/// The memory of a thread for blocks, texts and results, in blocks.
const BLOCKS_A_THREAD: u64 = 16;
/// The memory of a thread for streams, in blocks: pinned memory, and the text of blocks on devices.
const PINNED_A_THREAD: u64 = 6;
/// The number of blocks per thread that may be decided ahead of the one to be written next.
const AHEAD: u64 = 4;

/// Decides all pairs of the inputs (one file of pairs, or two of sequences), and writes the decisions in input order
/// to the file `output`: a header, then lines of the pair's number, 1 if it is accepted (otherwise 0) and its edits.
/// The written bytes do not depend on `context`. The progress has one stage, in bytes of input.
///
/// # Errors
/// If the configuration or the number of inputs is invalid, a requested GPU cannot be used, there is too little
/// memory, the input is invalid (the first fault in input order is reported), an output cannot be written, or
/// the run is cancelled. No output appears then.
pub fn run(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<Outcome, Error> {
    let inputs: Vec<Input> = inputs.into_iter().map(Into::into).collect();
    let set = OutputSet::new();
    let writer = Writer::new(Format::Tsv, vec![set.output(output.as_ref())?]);
    let outcome = run_with(config, &inputs, writer, context)?;
    set.commit()?;
    Ok(outcome)
}

/// Decides pairs like [`run()`], and writes the decisions in any format to open outputs.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Config,
    inputs: &[Input],
    writer: Writer,
    context: &Context,
) -> Result<Outcome, Error> {
    RunContext::new(config, context, false).run(inputs, writer)
}

/// Does the same as [`run_with`], except that pairs which GPUs can decide wait for these instead of being decided
/// on the CPU. For tests and measurements.
///
/// # Errors
/// The errors of [`run_with`].
#[doc(hidden)]
pub fn run_on_gpus_alone(
    config: &Config,
    inputs: &[Input],
    writer: Writer,
    context: &Context,
) -> Result<Outcome, Error> {
    RunContext::new(config, context, true).run(inputs, writer)
}

/// The parameters of a run, except for its inputs and outputs.
struct RunContext<'r> {
    config: &'r Config,
    context: &'r Context,
    /// Whether pairs that GPUs can decide are left to them.
    gpus_alone: bool,
    progress: &'r dyn Progress,
    cancel: &'r Cancel,
}

impl<'r> RunContext<'r> {
    fn new(config: &'r Config, context: &'r Context, gpus_alone: bool) -> RunContext<'r> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        RunContext { config, context, gpus_alone, progress, cancel }
    }

    fn run(&self, inputs: &[Input], writer: Writer) -> Result<Outcome, Error> {
        let filter = Filter::new(*self.config)?;
        let exact = if self.config.verify {
            Some(Filter::new(Config { method: Method::Exact, ..*self.config })?)
        } else {
            None
        };
        self.context.validate()?;
        let ordinals = self.choose_gpus(inputs)?;
        let begun = Instant::now();
        let block = self.block_bytes(!ordinals.is_empty())?;
        let gpus = Gpus::new(ordinals, self.context, block, self.gpus_alone);
        let inflater = Some(gpus.inflater());
        let options = ReaderOptions { inflater, ..self.reader_options(block) };
        let source = PairSource::open(inputs, &options)?;
        self.progress.stage("filter", Unit::Bytes, source.bytes_total());
        let format = writer.format();
        let ahead = AHEAD * self.context.threads as u64;
        let engine = Engine::new(&source, writer, ahead, self.progress, self.cancel);
        let make = || Worker::new(format, &filter, exact.as_ref());
        let (workers, by_gpus) = match gpus.is_empty() {
            true => (engine.run(self.context.threads, make)?, ByGpus::default()),
            false => {
                let filters: Vec<&Filter> = [&filter].into_iter().chain(&exact).collect();
                (self.decide_with(&gpus, &filters, &engine, make)?, gpus.by_gpus())
            }
        };
        let tallies: Vec<Tally> = workers.into_iter().map(Worker::finish).collect();
        let skipped_alignments = source.skipped_alignments();
        let writer = engine.finish()?;
        let mut outcome = Outcome { skipped_alignments, ..Outcome::of(by_gpus) };
        outcome.verified = self.config.verify.then(Verified::default);
        tallies.iter().for_each(|tally| outcome.add(tally));
        let all = begun.elapsed();
        let sync = writer.finish()?;
        outcome.stages.add("filter", all);
        outcome.stages.add("sync", sync);
        self.progress.finish();
        outcome.peak_memory = peak_rss();
        self.warn(&outcome);
        Ok(outcome)
    }

    fn warn(&self, outcome: &Outcome) {
        let warnings = &self.context.warnings;
        if outcome.records == 0 {
            warnings.push("the input has no pairs");
        }
        if outcome.exact_instead > 0 {
            warnings.push(format!(
                "{} pairs were decided by the exact method: `method` {} does not define them",
                thousands(outcome.exact_instead),
                self.config.method.name()
            ));
        }
    }

    fn choose_gpus(&self, inputs: &[Input]) -> Result<Vec<u32>, Error> {
        let work = match self.config.method {
            Method::Exact => Work::FilterExact,
            _ => Work::FilterByRule,
        };
        let usable = merganser_gpu::usable;
        Ok(self.context.choose_gpus(work, text_bytes(inputs), usable)?)
    }

    /// Decides all blocks on workers and GPUs.
    fn decide_with<'f>(
        &self,
        gpus: &Gpus,
        filters: &[&Filter],
        engine: &Engine<'_, PairSource, DecisionText, Writer>,
        make: impl Fn() -> Worker<'f> + Sync,
    ) -> Result<Vec<Worker<'f>>, Error> {
        thread::scope(|scope| {
            // CUDA starts while the first blocks are read and decided. If it fails, the run fails.
            start_scoped(scope, || {
                if let Err(error) = gpus.make(filters) {
                    engine.fail(0, error);
                    gpus.stop();
                }
            })?;
            let workers = engine.run_on(self.context.threads, Some(gpus), make);
            gpus.stop();
            workers
        })
    }

    fn reader_options(&self, block: usize) -> ReaderOptions {
        let threads = self.context.threads;
        // Each worker may hold the longest pair, or a line or record of it, as text and as planes; the reader
        // holds one more.
        let copies = 3 * (threads as u64 + 1);
        ReaderOptions {
            chunk_bytes: block,
            workers: threads,
            max_record: merganser_io::longest_record(self.context.budget() / 8, copies),
            cancel: self.cancel.clone(),
            warnings: self.context.warnings.clone(),
            ..ReaderOptions::default()
        }
    }

    /// Returns the block size that the memory allows, in bytes.
    fn block_bytes(&self, with_gpus: bool) -> Result<usize, Error> {
        let threads = self.context.threads;
        let most = if with_gpus { MAX_GPU_BLOCK } else { MAX_BLOCK };
        let what = format_args!("{threads} threads need");
        self.least_memory(with_gpus).check(what, Shortage::FEWER_THREADS)?;
        Ok((self.budget().left() / self.blocks(with_gpus)).min(most) as usize)
    }

    /// Returns the memory with the smallest blocks.
    fn least_memory(&self, with_gpus: bool) -> Budget {
        self.budget().with(self.blocks(with_gpus) * MIN_BLOCK)
    }

    /// Returns the memory without blocks.
    fn budget(&self) -> Budget {
        Budget::of_run(self.context, THREAD)
    }

    /// Returns the number of blocks that have memory at the same time.
    fn blocks(&self, with_gpus: bool) -> u64 {
        let pinned = if with_gpus { PINNED_A_THREAD } else { 0 };
        (BLOCKS_A_THREAD + pinned) * self.context.threads as u64
    }
}

impl Outcome {
    fn of(ByGpus { devices, kernels, exact_instead }: ByGpus) -> Outcome {
        Outcome { devices, kernels, exact_instead, ..Outcome::default() }
    }

    fn add(&mut self, tally: &Tally) {
        self.records += tally.pairs;
        self.accepted += tally.accepted;
        self.undefined += tally.undefined;
        let most = self.edits.len().max(tally.edits.len());
        self.edits.resize(most, 0);
        for (sum, more) in self.edits.iter_mut().zip(&tally.edits) {
            *sum += more;
        }
        self.exact_instead += tally.exact_instead;
        self.gpu_pairs += tally.gpu_pairs;
        if let (Some(sum), Some(more)) = (&mut self.verified, &tally.verified) {
            sum.exact_accepted += more.exact_accepted;
            sum.false_accepts += more.false_accepts;
            sum.false_rejects += more.false_rejects;
        }
    }
}
