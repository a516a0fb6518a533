//! A whole run. Each worker fetches numbered blocks of pairs ([`Shared::next`]), packs and decides
//! their pairs, and hands in their results as text ([`Shared::hand_in`]), which is written in the
//! order of the numbers. Whoever decides pairs in another way can take from the same queue: a block
//! that was fetched must be handed in, and all with smaller numbers were fetched before it.

mod gpus;

use std::thread;
use std::time::Duration;

use merganser_io::{Input, ReaderOptions};
use merganser_run::{
    Cancel, InOrder, InOrderSink, Progress, Shortage, Unit, run_workers_collect, start_scoped,
};

use crate::source::{Block, Source};
use crate::writer::{self, Part};
use crate::{
    Config, Decision, Error, Filter, Format, Method, PairBatch, REJECTED, Scratch, UNDEFINED,
    Writer,
};
use gpus::Gpus;

/// What to run, besides the inputs and outputs.
#[derive(Clone, Debug)]
pub struct Job {
    /// How pairs are decided.
    pub config: Config,
    /// Threads in all.
    pub threads: usize,
    /// Bytes that the process may use.
    pub memory: u64,
    /// Decide each pair by the exact method too, and count where the two differ.
    pub verify: bool,
    /// GPUs to decide on too, by CUDA's numbers; one listed twice is used as two. Empty for the CPU
    /// alone. No result depends on it.
    pub devices: Vec<u32>,
    /// Bytes of memory to use on each GPU, `None` for what is free.
    pub gpu_memory: Option<u64>,
    /// Wait for the GPUs rather than decide pairs on the CPU that they can decide: for tests and
    /// measurements.
    pub gpus_alone: bool,
}

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Pairs read.
    pub pairs: u64,
    /// Of these, accepted, those that are undefined among them.
    pub accepted: u64,
    /// Of these, accepted with letters that make them undefined.
    pub undefined: u64,
    /// Pairs that the method asked for does not define, and the exact one decided.
    pub exact_instead: u64,
    /// With [`Job::verify`], how the exact method differs.
    pub verified: Option<Verified>,
    /// How long the disk took to confirm the outputs.
    pub sync: Duration,
    /// Pairs that went to GPUs.
    pub gpu_pairs: u64,
    /// The time that kernels took, of all streams together, which run side by side.
    pub kernels: Duration,
    /// The GPUs that took part.
    pub gpus: Vec<merganser_gpu::DeviceInfo>,
}

/// Decisions held against the exact method's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Pairs that the exact method accepts.
    pub exact_accepted: u64,
    /// Pairs accepted that have more edits than the threshold allows.
    pub false_accepts: u64,
    /// Pairs rejected that are within the threshold.
    pub false_rejects: u64,
}

/// Bytes of text of a block: large enough to be worth a turn, at most,
const MOST_BLOCK: u64 = 1 << 20;
/// with GPUs, which each launch costs some time;
const MOST_GPU_BLOCK: u64 = 4 << 20;
/// and where memory is short.
const LEAST_BLOCK: u64 = 64 << 10;
/// Pairs that are packed and decided at a time, so that they stay in a core's cache.
const BATCH: usize = 4096;
/// What the process and a thread take whatever the size of blocks.
const FIXED: u64 = 24 << 20;
const FIXED_THREAD: u64 = 3 << 20;
/// What a thread's share of all blocks, texts and results takes, in blocks.
const BLOCKS_A_THREAD: u64 = 16;
/// What the pinned memory of a thread's share of all streams takes, in blocks.
const PINNED_A_THREAD: u64 = 4;
/// How many blocks a thread may be ahead of the one to be written next.
const AHEAD: u64 = 4;

/// Decides all pairs of the inputs (one file of pairs, or two of sequences) and writes the
/// decisions in their order; the bytes written do not depend on threads and memory. Calls
/// `progress` with one stage, in bytes of input.
///
/// # Errors
/// If the configuration or the number of inputs is wrong, there is too little memory, the input is
/// at fault (of several faults the first in the input), an output cannot be written, or the run was
/// cancelled. There are then no outputs.
pub fn run(
    job: &Job,
    inputs: &[Input],
    writer: Writer,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Outcome, Error> {
    let filter = Filter::new(job.config)?;
    let exact = Config { method: Method::Exact, ..job.config };
    let exact = if job.verify { Some(Filter::new(exact)?) } else { None };
    let block = block_bytes(job)?;
    let options = ReaderOptions {
        chunk_bytes: block,
        workers: job.threads,
        max_record: longest_record(job),
        cancel: cancel.clone(),
        ..ReaderOptions::default()
    };
    let source = Source::open(inputs, &options)?;
    progress.stage("filter", Unit::Bytes, source.bytes_total());
    let format = writer.format();
    let shared = Shared {
        source,
        written: InOrder::new(writer, AHEAD * job.threads as u64, 0),
        format,
        progress,
        cancel,
    };
    let make = || Worker::new(&filter, exact.as_ref());
    let mut outcome = Outcome::default();
    let tallies = if job.devices.is_empty() {
        run_workers_collect::<_, Error, _>(job.threads, |_| Ok(shared.work(make())))?
    } else {
        let gpus = Gpus::new(job, block);
        let filters: Vec<&Filter> = [&filter].into_iter().chain(&exact).collect();
        let tallies = thread::scope(|scope| {
            // CUDA starts while blocks are read and decided.
            start_scoped(scope, || gpus.start(&filters, &shared))?;
            let work = |_| Ok(shared.work_with(&gpus, make()));
            let tallies = run_workers_collect::<_, Error, _>(job.threads, work);
            gpus.stop();
            tallies
        })?;
        outcome = gpus.finish();
        tallies
    };
    let writer = shared.written.into_sink()?;
    if job.verify {
        outcome.verified = Some(Verified::default());
    }
    for tally in &tallies {
        outcome.add(tally);
    }
    outcome.sync = writer.finish()?;
    progress.finish();
    Ok(outcome)
}

/// The longest pair: a line of it, or a record. There is one with each worker as text and as planes, and
/// one that is collected.
fn longest_record(job: &Job) -> usize {
    merganser_io::longest_record(job.memory / 8, 3 * (job.threads as u64 + 1))
}

/// The bytes of a block that the memory allows.
fn block_bytes(job: &Job) -> Result<usize, Error> {
    let threads = job.threads as u64;
    let (most, pinned) =
        if job.devices.is_empty() { (MOST_BLOCK, 0) } else { (MOST_GPU_BLOCK, PINNED_A_THREAD) };
    let blocks = (BLOCKS_A_THREAD + pinned) * threads;
    let fixed = FIXED + FIXED_THREAD * threads;
    let block = job.memory.saturating_sub(fixed) / blocks;
    if block < LEAST_BLOCK {
        return Err(Shortage {
            what: format!("{} threads need", job.threads),
            needed: fixed + blocks * LEAST_BLOCK,
            budget: job.memory,
            remedy: Shortage::FEWER_THREADS,
        }
        .into());
    }
    Ok(block.min(most) as usize)
}

impl Outcome {
    fn add(&mut self, other: &Outcome) {
        self.pairs += other.pairs;
        self.accepted += other.accepted;
        self.undefined += other.undefined;
        self.exact_instead += other.exact_instead;
        self.gpu_pairs += other.gpu_pairs;
        if let (Some(sum), Some(more)) = (&mut self.verified, &other.verified) {
            sum.exact_accepted += more.exact_accepted;
            sum.false_accepts += more.false_accepts;
            sum.false_rejects += more.false_rejects;
        }
    }
}

/// What the workers share.
struct Shared<'r> {
    source: Source,
    written: InOrder<Part, Writer>,
    format: Format,
    progress: &'r dyn Progress,
    cancel: &'r Cancel,
}

impl InOrderSink<Part> for Writer {
    type Error = Error;

    fn write(&mut self, mut part: Part) -> Result<Option<Part>, Error> {
        Writer::write(self, &part)?;
        part.iter_mut().for_each(Vec::clear);
        Ok(Some(part))
    }
}

impl Shared<'_> {
    /// Decides blocks until there are none.
    fn work(&self, mut worker: Worker<'_>) -> Outcome {
        let _guard = FailOnPanic(self);
        let mut block = Block::default();
        while self.next(&mut block) {
            let mut part = self.written.spare().unwrap_or_default();
            let done = worker.decide(&mut block, self.format, &mut part);
            self.hand_in(block.number(), done.map(|()| part));
        }
        worker.finish()
    }

    /// Fetches the next block, once it may be worked on; `false` if there is none, or no more should
    /// be done.
    fn next(&self, block: &mut Block) -> bool {
        self.fetch(block) && self.written.wait_for_room(block.number())
    }

    /// Fetches the next block; `false` if there is none, or no more should be done.
    fn fetch(&self, block: &mut Block) -> bool {
        if self.written.has_failed() {
            return false;
        }
        let fetched = self.source.next(block);
        // What is cancelled looks like an end, or like a fault.
        if self.cancel.is_cancelled() {
            self.hand_in(0, Err(Error::Cancelled));
            return false;
        }
        match fetched {
            Ok(Some(bytes)) => self.progress.advance(bytes),
            Ok(None) => return false,
            Err(error) => {
                self.hand_in(block.number(), Err(error));
                return false;
            }
        }
        true
    }

    /// Takes a block's results, or what is wrong with it: kept with its number, as another worker
    /// may still find a fault in an earlier one.
    fn hand_in(&self, number: u64, part: Result<Part, Error>) {
        match part {
            Ok(part) => self.written.hand_in(number, part),
            Err(error) => {
                self.written.fail(number, error);
                self.source.stop();
            }
        }
    }
}

/// Should a worker panic, nobody must wait for its block.
struct FailOnPanic<'s, 'r>(&'s Shared<'r>);

impl Drop for FailOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.hand_in(0, Err(Error::Cancelled));
        }
    }
}

/// A thread's memory and counts.
struct Worker<'f> {
    filter: &'f Filter,
    exact: Option<&'f Filter>,
    batch: PairBatch<'static>,
    scratch: Scratch,
    exact_scratch: Scratch,
    decisions: Vec<Decision>,
    truth: Vec<Decision>,
    tally: Outcome,
}

impl<'f> Worker<'f> {
    fn new(filter: &'f Filter, exact: Option<&'f Filter>) -> Worker<'f> {
        Worker {
            filter,
            exact,
            batch: PairBatch::new(),
            scratch: Scratch::default(),
            exact_scratch: Scratch::default(),
            decisions: Vec::new(),
            truth: Vec::new(),
            tally: Outcome { verified: exact.map(|_| Verified::default()), ..Outcome::default() },
        }
    }

    fn decide(&mut self, block: &mut Block, format: Format, part: &mut Part) -> Result<(), Error> {
        loop {
            let first = block.index();
            if !block.take(BATCH, &mut self.batch)? {
                return Ok(());
            }
            self.filter.run_into(&self.batch, &mut self.scratch, &mut self.decisions);
            if let Some(exact) = self.exact {
                exact.run_into(&self.batch, &mut self.exact_scratch, &mut self.truth);
            }
            self.report(format, first, part);
        }
    }

    /// Writes and counts the decisions on the pairs from the index `first` on.
    fn report(&mut self, format: Format, first: u64, part: &mut Part) {
        writer::format(format, first, &self.decisions, part);
        self.count();
        self.verify();
    }

    fn count(&mut self) {
        let with = |wanted| self.decisions.iter().filter(|&&edits| edits == wanted).count() as u64;
        self.tally.pairs += self.decisions.len() as u64;
        self.tally.accepted += self.decisions.len() as u64 - with(REJECTED);
        self.tally.undefined += with(UNDEFINED);
    }

    fn verify(&mut self) {
        let Some(verified) = &mut self.tally.verified else { return };
        for (&decision, &truth) in self.decisions.iter().zip(&self.truth) {
            let (accepted, right) = (decision != REJECTED, truth != REJECTED);
            verified.exact_accepted += u64::from(right);
            verified.false_accepts += u64::from(accepted && !right);
            verified.false_rejects += u64::from(!accepted && right);
        }
    }

    fn finish(mut self) -> Outcome {
        self.tally.exact_instead += self.scratch.exact_instead();
        self.tally
    }
}
