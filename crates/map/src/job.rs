//! A whole run: reads are read in order, mapped by all threads, and written in order.

use std::io::Write;
use std::time::{Duration, Instant};

use merganser_io::{BgzfBlocks, Output, Segment, finish_all};
use merganser_run::{Cancel, InOrderSink, Progress, Shortage, run_workers_collect};

use crate::cuda::{Gpus, OnGpu, Ticket};
use crate::header::{self, ReadGroup};
use crate::hits::Hit;
use crate::index::Index;
use crate::mapper::{self, BLOCK, Mapper, Stages};
use crate::record::{self, Style};
use crate::report::{Reported, Reporter, Sink, Unit};
use crate::source::{Batch, Source};
use crate::{Config, Error, Format, Metric, Prefilter, prefilter};

/// What to run, besides the index and the reads.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is reported.
    pub config: Config,
    /// How it is written.
    pub format: Format,
    /// The read group of all reads.
    pub group: Option<ReadGroup>,
    /// CIGARs tell matches (=) and mismatches (X) apart.
    pub extended: bool,
    /// Reads without a hit have records, too.
    pub keep_unmapped: bool,
    /// Threads in all.
    pub threads: usize,
    /// Bytes that the process may use.
    pub memory: u64,
    /// GPUs that map, by CUDA's numbers; none: the threads do.
    pub devices: Vec<u32>,
    /// Bytes of each GPU's memory that may be used; `None`: what is free.
    pub gpu_memory: Option<u64>,
}

/// Open outputs.
#[derive(Debug)]
pub struct Outputs {
    /// Records.
    pub records: Output,
    /// Reads without a hit, as FASTQ or FASTA.
    pub unmapped: Option<Output>,
}

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What was reported.
    pub reported: Reported,
    /// What the stages met.
    pub stages: Stages,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// How long it took to open the devices and to copy the index to them.
    pub opening: Duration,
    /// How long the disk took to confirm the outputs.
    pub sync: Duration,
}

/// How many batches a thread may be ahead of the one to be written next.
const AHEAD: u64 = 4;
/// Text that is sent off before a batch is done, which waits for the batches before it: the least,
/// and the most if there is memory to spare.
const LONG: [usize; 2] = [4 << 20, 64 << 20];
/// What the process and a thread take: batches, candidates, texts that wait.
const FIXED: u64 = 24 << 20;
const FIXED_THREAD: u64 = 48 << 20;
/// Good ends that are turned into hits together.
const MOST_ENDS: usize = 1 << 16;

/// Maps all reads and writes records in their order; the bytes written do not depend on threads,
/// memory and filter. Calls `progress` with one stage, in bytes of input.
///
/// # Errors
/// If the configuration is wrong, there is too little memory, the input is at fault (of several
/// faults the first in the input), an output cannot be written, or the run was cancelled. There are
/// then no outputs.
pub fn run(
    job: &Job,
    index: &Index,
    inputs: &[Segment],
    outputs: Outputs,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Outcome, Error> {
    job.config.validate()?;
    let long = check_memory(job, index)?;
    index.check(job.threads, cancel)?;
    let view = index.view();
    let gaps = mapper::gaps(&view, &job.config);
    let ruled = matches!(job.config.filter, Prefilter::GateKeeper | Prefilter::Snake)
        && job.config.metric == Metric::Edit;
    let packed = if ruled { Some(prefilter::pack(&view.text)?) } else { None };
    let style = Style {
        format: job.format,
        names: index.contigs().iter().map(|contig| contig.name.clone()).collect(),
        extended: job.extended,
        group: job.group.as_ref().map(|group| group.id().to_owned()),
    };
    let begun = Instant::now();
    let gpus = match &job.devices[..] {
        [] => None,
        devices => {
            Some(Gpus::new(index, &gaps, &job.config, devices, job.gpu_memory, job.threads)?)
        }
    };
    let opening = begun.elapsed();
    let source = Source::open(inputs, job.threads, cancel)?;
    progress.stage("map", merganser_run::Unit::Bytes, source.bytes_total());
    let keeps = outputs.unmapped.is_some();
    let head = head(job, index, inputs);
    let shared = Shared {
        source,
        written: InOrder::new(Writer { outputs, head: Some(head) }, AHEAD * job.threads as u64, 0),
        progress,
        cancel,
    };
    let work = |_| {
        let mapper = Mapper::new(view, job.config, &gaps, packed.as_ref(), cancel);
        let reporter = Reporter::new(view, job.config, &style, job.keep_unmapped, cancel);
        Ok(shared.work(Worker::new(job, mapper, gpus.as_ref(), reporter, keeps, long)))
    };
    let done = run_workers_collect::<_, Error, _>(job.threads, work)?;
    let skipped_alignments = shared.source.skipped_alignments();
    let writer = shared.written.into_sink()?;
    let mut outcome = Outcome { opening, skipped_alignments, ..Outcome::default() };
    for (reported, stages) in &done {
        outcome.reported.add(reported);
        outcome.stages.add(stages);
    }
    // What was found is right only if the index is still what it was.
    index.check(job.threads, cancel)?;
    outcome.sync = writer.finish(job.format)?;
    progress.finish();
    Ok(outcome)
}

/// The text that a thread may hold before it sends it off.
fn check_memory(job: &Job, index: &Index) -> Result<usize, Error> {
    let ruled = matches!(job.config.filter, Prefilter::GateKeeper | Prefilter::Snake);
    // The filter's own planes, made of letters.
    let letters = if ruled { index.bases() * 3 / 2 } else { 0 };
    let needed = index.bytes() + letters + FIXED + FIXED_THREAD * job.threads as u64;
    let texts = 2 * (AHEAD + 1) * job.threads as u64;
    if needed <= job.memory {
        let share = (job.memory - needed) / texts;
        return Ok(share.clamp(LONG[0] as u64, LONG[1] as u64) as usize);
    }
    let what = format!("mapping with {} threads to this index needs", job.threads);
    let remedy = Shortage::FEWER_THREADS;
    Err(Shortage { what, needed, budget: job.memory, remedy }.into())
}

/// The file's beginning.
fn head(job: &Job, index: &Index, inputs: &[Segment]) -> Vec<u8> {
    let paired = inputs.iter().any(Segment::is_paired);
    let group = job.group.as_ref();
    let text = header::text(index, group, &job.config, paired, job.extended, job.keep_unmapped);
    let head = record::header(job.format, &text, index);
    match job.format {
        Format::Sam => head,
        Format::Bam(level) => {
            let mut out = Vec::new();
            BgzfBlocks::new(level).compress(&head, true, &mut out);
            out
        }
    }
}

/// Text of a batch: records, and reads without a hit.
type Part = [Vec<u8>; 2];
/// Parts in the order of their batches.
type InOrder<S> = merganser_run::InOrder<Part, S>;

struct Writer {
    outputs: Outputs,
    head: Option<Vec<u8>>,
}

impl Writer {
    /// Not before there is something to write, so that an error at the beginning of the input
    /// leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if let Some(head) = self.head.take() {
            self.outputs.records.write_all(&head)?;
        }
        Ok(())
    }

    fn finish(mut self, format: Format) -> Result<Duration, Error> {
        self.begin()?;
        if format != Format::Sam {
            self.outputs.records.write_all(&BgzfBlocks::END)?;
        }
        let Outputs { records, unmapped } = self.outputs;
        Ok(finish_all([records].into_iter().chain(unmapped))?)
    }
}

impl InOrderSink<Part> for Writer {
    type Error = Error;

    fn write(&mut self, part: Part) -> Result<Option<Part>, Error> {
        self.begin()?;
        self.outputs.records.write_all(&part[0])?;
        if let Some(unmapped) = &mut self.outputs.unmapped {
            unmapped.write_all(&part[1])?;
        }
        Ok(None)
    }
}

/// What the workers share.
struct Shared<'r> {
    source: Source,
    written: InOrder<Writer>,
    progress: &'r dyn Progress,
    cancel: &'r Cancel,
}

impl Shared<'_> {
    /// Maps batches until there are none. What fails is kept with the number of its batch, as
    /// another worker may still find a fault in an earlier one.
    fn work(&self, mut worker: Worker<'_>) -> (Reported, Stages) {
        let _guard = FailOnPanic(&self.written);
        let mut batch = Batch::default();
        while let Some(number) = self.next(&mut batch) {
            let done = worker.map(&batch, number, &self.written);
            if let Err(error) = done {
                self.written.fail(number, error);
            }
        }
        (worker.reporter.reported, worker.mapper.stages)
    }

    /// The next batch's number; `None` if there is none, or no more should be done.
    fn next(&self, batch: &mut Batch) -> Option<u64> {
        let filled = self.source.next(batch);
        let number = batch.number();
        if self.cancel.is_cancelled() {
            self.written.fail(0, Error::Cancelled);
            return None;
        }
        match filled {
            Ok(Some(bytes)) => self.progress.advance(bytes),
            Ok(None) => return None,
            Err(error) => {
                self.written.fail(number, error);
                return None;
            }
        }
        self.written.wait_for_room(number).then_some(number)
    }
}

/// Should a worker panic, nobody must wait for its batch.
struct FailOnPanic<'w>(&'w InOrder<Writer>);

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(0, Error::Cancelled);
        }
    }
}

/// A thread's stages.
struct Worker<'r> {
    mapper: Mapper<'r>,
    on_gpu: Option<OnGpu<'r>>,
    reporter: Reporter<'r>,
    blocks: Option<BgzfBlocks>,
    keeps: bool,
    /// Text that is sent off.
    long: usize,
    hits: Vec<Hit>,
    bounds: Vec<usize>,
    texts: Part,
}

/// Text of a batch that is being written.
struct Text<'w> {
    texts: &'w mut Part,
    blocks: &'w mut Option<BgzfBlocks>,
    keeps: bool,
    long: usize,
    number: u64,
    written: &'w InOrder<Writer>,
    cancel: &'w Cancel,
}

impl Text<'_> {
    /// What can be written of the texts: all, or of records to compress whole blocks.
    fn part(&mut self, all: bool) -> Part {
        let unmapped = std::mem::take(&mut self.texts[1]);
        let records = match self.blocks {
            None => std::mem::take(&mut self.texts[0]),
            Some(blocks) => {
                let mut out = Vec::with_capacity(self.texts[0].len() / 2);
                let done = blocks.compress(&self.texts[0], all, &mut out);
                self.texts[0].drain(..done);
                out
            }
        };
        [records, unmapped]
    }
}

impl Sink for Text<'_> {
    fn records(&mut self) -> &mut Vec<u8> {
        &mut self.texts[0]
    }

    fn unmapped(&mut self) -> Option<&mut Vec<u8>> {
        self.keeps.then_some(&mut self.texts[1])
    }

    fn relieve(&mut self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if self.texts[0].len() < self.long {
            return Ok(());
        }
        let part = self.part(false);
        // In its turn only, as it may be long. What failed meanwhile is kept with its own number.
        let wanted = self.written.hand_in_some(self.number, part, u64::MAX, false);
        if wanted { Ok(()) } else { Err(Error::Cancelled) }
    }
}

impl<'r> Worker<'r> {
    fn new(
        job: &Job,
        mapper: Mapper<'r>,
        gpus: Option<&'r Gpus>,
        reporter: Reporter<'r>,
        keeps: bool,
        long: usize,
    ) -> Worker<'r> {
        let blocks = match job.format {
            Format::Sam => None,
            Format::Bam(level) => Some(BgzfBlocks::new(level)),
        };
        let (hits, bounds, texts) = (Vec::new(), Vec::new(), Part::default());
        let on_gpu = gpus.map(OnGpu::new);
        Worker { mapper, on_gpu, reporter, blocks, keeps, long, hits, bounds, texts }
    }

    fn map(&mut self, batch: &Batch, number: u64, written: &InOrder<Writer>) -> Result<(), Error> {
        let begun = Instant::now();
        // Given up on any way out of here.
        let ticket = self.on_gpu.as_ref().map(|on_gpu| on_gpu.ticket(number));
        self.mapper.clear();
        for at in 0..batch.len() {
            let [_, letters, _] = batch.get(at);
            self.mapper.push(letters).map_err(|problem| batch.error(at, problem))?;
        }
        self.mapper.stages.times.seeding += begun.elapsed();
        if let (Some(mut on_gpu), Some(ticket)) = (self.on_gpu.take(), ticket) {
            let done = self.map_on_gpu(&mut on_gpu, ticket, batch, number, written);
            self.on_gpu = Some(on_gpu);
            done?;
        } else {
            self.map_here(batch, number, written)?;
        }
        let begun = Instant::now();
        let part = self.text(number, written).part(true);
        written.hand_in(number, part);
        self.mapper.stages.times.output += begun.elapsed();
        Ok(())
    }

    /// Maps the queries on a device.
    fn map_on_gpu(
        &mut self,
        on_gpu: &mut OnGpu<'_>,
        ticket: Ticket<'_>,
        batch: &Batch,
        number: u64,
        written: &InOrder<Writer>,
    ) -> Result<(), Error> {
        on_gpu.begin(&mut self.mapper, ticket, batch.len(), batch.unit())?;
        while let Some(reads) = on_gpu.next(&mut self.mapper, &mut self.hits, &mut self.bounds)? {
            self.report(batch, reads, on_gpu.scripts(), number, written)?;
        }
        Ok(())
    }

    /// Maps the queries on this thread.
    fn map_here(
        &mut self,
        batch: &Batch,
        number: u64,
        written: &InOrder<Writer>,
    ) -> Result<(), Error> {
        let (mut from, mut to) = (0, 0);
        while from < batch.len() {
            while to < batch.len() && self.mapper.waiting() < MOST_ENDS {
                let next = batch.len().min(to + BLOCK);
                self.mapper.seek(to..next)?;
                to = next;
            }
            self.mapper.flush()?;
            self.mapper.hits(from..to, &mut self.hits, &mut self.bounds)?;
            self.report(batch, from..to, &[], number, written)?;
            from = to;
        }
        Ok(())
    }

    fn text<'w>(&'w mut self, number: u64, written: &'w InOrder<Writer>) -> Text<'w> {
        let (texts, blocks, keeps) = (&mut self.texts, &mut self.blocks, self.keeps);
        let cancel = &self.mapper.cancel;
        Text { texts, blocks, keeps, long: self.long, number, written, cancel }
    }

    fn report(
        &mut self,
        batch: &Batch,
        reads: std::ops::Range<usize>,
        scripts: &[u16],
        number: u64,
        written: &InOrder<Writer>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let unit = batch.unit();
        let (texts, blocks, keeps) = (&mut self.texts, &mut self.blocks, self.keeps);
        let cancel = &self.mapper.cancel;
        let mut text = Text { texts, blocks, keeps, long: self.long, number, written, cancel };
        let of = |at: usize| {
            let start = if at == 0 { 0 } else { self.bounds[at - 1] };
            &self.hits[start..self.bounds[at]]
        };
        for read in reads.clone().step_by(unit) {
            let at = read - reads.start;
            let hits = [of(at), if unit == 2 { of(at + 1) } else { &[] }];
            let unit = Unit { batch, queries: &self.mapper.queries, read, hits, scripts };
            self.reporter.report(&unit, &mut text)?;
        }
        self.mapper.stages.times.output += begun.elapsed();
        Ok(())
    }
}
