//! A counting run, from inputs to table.

mod on_gpus;
mod output;
mod panel;
mod panel_table;
mod planned;
pub(crate) mod reading;

use std::borrow::Cow;
use std::path::Path;
use std::thread;
use std::time::Instant;

use merganser_io::{Chunk, Input, OutputSet, QualityOffset, Reader};
use merganser_kmers::formats::TableOutput;
use merganser_kmers::{Histogram, JobHash, MemoryTable, Piece, PieceKind};
use merganser_run::options::Auto;
use merganser_run::{
    Cancel, Context, Progress, Shard, Stages, Unit, Warnings, Work, each, start_scoped, thousands,
};
use merganser_seq::with_kmer;
use merganser_store::{Bins, BlockPool, Spilling, Storage, Writer};

use crate::binmap::BinMap;
use crate::config::Format;
use crate::cpu::Width;
use crate::cpu::counter::Counter;
use crate::cpu::partition::{Partitioned, Partitioner};
use crate::cpu::sample::Sampler;
use crate::cpu::small::{self, SmallCounter};
use crate::cuda::GpuKmer;
use crate::emit::TableContents;
use crate::fragments::{self, Fragments, Tally};
use crate::job::Job;
use crate::plan::{self, Plan};
use crate::results::Results;
use crate::{Config, Error};
pub use planned::plan_run;
use reading::{ReadContext, read_all};

/// The results and statistics of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of records (reads, sequences) of the input.
    pub records: u64,
    /// The number of secondary and supplementary alignments of SAM, BAM and CRAM inputs, which were skipped.
    pub skipped_alignments: u64,
    /// The number of letters of sequence.
    pub letters: u64,
    /// The number of letters other than A, C, G, T and U, which break k-mers.
    pub ambiguous_letters: u64,
    /// The number of bases that broke k-mers because of low quality.
    pub low_quality_bases: u64,
    /// The number of k-mers of the input.
    pub total_kmers: u64,
    /// The number of distinct k-mers for each count, before any cutoff.
    pub histogram: Histogram,
    /// The number of distinct k-mers that the table holds (or would hold).
    pub kept_kmers: u64,
    /// Whether a count exceeds `u32::MAX` and is stored as `u32::MAX`.
    pub saturated: bool,
    /// The number of super-k-mers that were sent to bins.
    pub super_kmers: u64,
    /// Bytes of these super-k-mers.
    pub super_kmer_bytes: u64,
    /// The number of bins.
    pub bins: usize,
    /// Bytes of temporary files.
    pub spilled_bytes: u64,
    /// The memory limit ([`Context::memory`]), in bytes, that would have avoided temporary files; `None`
    /// if there were none, or if [`Config::storage`] requires them.
    pub enough_memory: Option<u64>,
    /// The GPUs that counted.
    pub devices: Vec<merganser_gpu::DeviceInfo>,
    /// The number of chunks of text that GPUs received as bytes of files, to inflate and parse them.
    pub device_chunks: u64,
    /// The number of these that GPUs returned to the CPU, because they are damaged, malformed or unusual.
    pub returned_chunks: u64,
    /// Wall time by stage.
    pub stages: Stages,
    /// The largest resident size of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl Outcome {
    /// Returns the number of distinct k-mers of the input, before any cutoff.
    pub fn distinct_kmers(&self) -> u64 {
        self.histogram.distinct(1, u32::MAX)
    }

    pub(crate) fn stage(&mut self, name: &'static str, since: Instant) {
        self.stages.since(name, since);
    }

    pub(crate) fn read(&mut self, tally: Tally) {
        self.records = tally.records;
        self.letters = tally.letters;
        self.ambiguous_letters = tally.ambiguous;
        self.low_quality_bases = tally.low_quality;
    }
}

/// Counts the k-mers of `inputs` and writes the table to the file `output` in the format [`Config::format`] (for
/// [`Format::Kmc`] the name without suffix; for [`Format::None`] nothing is written, and the outcome has the
/// histogram). The file appears when the table is complete.
///
/// Progress stages: `reading`, in bytes of input on disk; `counting`, in bytes of super-k-mers.
///
/// ```
/// use merganser_count::{Config, run};
/// use merganser_run::Context;
///
/// let folder = tempfile::tempdir()?;
/// let path = |name: &str| folder.path().join(name);
/// std::fs::write(path("reads.fa"), ">one\nACGTTA\n>two\nCGTTAC\n")?;
///
/// let outcome = run(&Config::new(5), [path("reads.fa")], path("table.mgk"), &Context::new())?;
/// assert_eq!((outcome.total_kmers, outcome.kept_kmers), (4, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A parameter out of range, an input or output that cannot be opened (before any work), malformed
/// input, a full disk, or [`Error::Cancelled`]. No output exists after an error.
pub fn run(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<Outcome, Error> {
    let (inputs, outputs): (Vec<Input>, _) = (all(inputs), OutputSet::new());
    let outcome = run_with(config, &inputs, Some(output.as_ref()), &outputs, context)?;
    outputs.commit()?;
    Ok(outcome)
}

/// Counts the k-mers of `inputs` without a table: the outcome has the [histogram](Outcome::histogram).
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_histogram(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    context: &Context,
) -> Result<Outcome, Error> {
    let config = Config { format: Format::None, ..config.clone() };
    run_with(&config, &all(inputs), None, &OutputSet::new(), context)
}

fn all(inputs: impl IntoIterator<Item = impl Into<Input>>) -> Vec<Input> {
    inputs.into_iter().map(Into::into).collect()
}

/// Counts like [`run()`]; the file belongs to `outputs` and appears when these are committed.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Config,
    inputs: &[Input],
    output: Option<&Path>,
    outputs: &OutputSet,
    context: &Context,
) -> Result<Outcome, Error> {
    let outcome = run_quietly(config, inputs, output, outputs, context)?;
    warn(config, &outcome, &context.warnings);
    Ok(outcome)
}

/// Counts like [`run_with`], without warnings about the result, for jobs that judge the result themselves.
///
/// # Errors
/// Fails as [`run()`] does.
#[doc(hidden)]
pub fn run_quietly(
    config: &Config,
    inputs: &[Input],
    output: Option<&Path>,
    outputs: &OutputSet,
    context: &Context,
) -> Result<Outcome, Error> {
    let create = || output::create(config, output, outputs);
    count_into(create, (config, context), inputs)
}

/// Counts the k-mers of `inputs` into a table in memory, regardless of [`Config::format`]. The memory
/// of the table itself is not part of [`Context::memory`].
///
/// The progress stages are those of [`run()`].
///
/// ```
/// use merganser_count::{Config, run_in_memory};
/// use merganser_run::{Cancel, Context, Silent};
///
/// let folder = tempfile::tempdir()?;
/// let reads = folder.path().join("reads.fa");
/// std::fs::write(&reads, ">one\nACGTTA\n>two\nCGTTAC\n")?;
///
/// let (config, context) = (Config { min_count: Some(1), ..Config::new(5) }, Context::new());
/// let (_, table) = run_in_memory(&config, [reads], &context)?;
/// let kmers: Vec<(String, u32)> = table.iter().collect();
/// let expected = [("AACGT", 1), ("CGTTA", 2), ("GTAAC", 1)];
/// assert_eq!(kmers, expected.map(|(kmer, count)| (kmer.to_owned(), count)));
/// assert_eq!((table.get("TAACG"), table.get("AAAAA")), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A parameter out of range, an input that cannot be opened (before any work), malformed input, a full
/// disk, or [`Error::Cancelled`].
pub fn run_in_memory(
    config: &Config,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    context: &Context,
) -> Result<(Outcome, MemoryTable), Error> {
    // Any format except `None`, so that k-mers are kept; the destination is chosen here.
    let config = Config { format: Format::Mgk, ..config.clone() };
    let (files, table) = TableOutput::in_memory();
    let outcome = count_into(|| Ok(files), (&config, context), &all(inputs))?;
    let table = table.recv().map_err(|_| Error::Cancelled)?;
    warn(&config, &outcome, &context.warnings);
    Ok((outcome, table))
}

/// Counts into the files that `create` opens once the inputs are open.
fn count_into(
    create: impl FnOnce() -> Result<TableOutput, Error>,
    (config, context): (&Config, &Context),
    inputs: &[Input],
) -> Result<Outcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate()?;
    context.validate()?;
    reading::phred(config).warn_of_alignments(inputs, &context.warnings);
    let (piece, inputs) = match config.shard {
        None => (None, Cow::Borrowed(inputs)),
        Some(shard) => {
            // Another shard may read a repeated file a second time.
            merganser_io::warn_of_repeats(inputs, &context.warnings);
            let piece = merganser_io::shard(inputs, shard, fragments::overlap(config))?;
            (Some(piece_of(config, shard, inputs, (context.threads, cancel))?), Cow::Owned(piece))
        }
    };
    let inputs = &inputs[..];
    let panel = config.panel.as_deref().map(|path| panel_table::open(path, config, context));
    let panel = panel.transpose()?;
    let devices = choose_devices(config, context, inputs, panel.is_some())?;
    let job = Job { piece, ..Job::new(config, context, &devices) };
    let reader = reading::open(job, inputs, cancel)?;
    let files = create()?;
    let run = RunContext { job, config, reader: &reader, progress, cancel };
    let counted = match &panel {
        None => with_kmer!(config.k, K => run.count::<K>(files)),
        Some(panel) => {
            let k = config.k.max(panel::LEAST_K);
            with_kmer!(k, K => run.count_panel::<K>(&panel.table, context, files))
        }
    };
    let [device_chunks, returned_chunks] = reader.remote_chunks();
    counted
        .map(|outcome| Outcome {
            device_chunks,
            returned_chunks,
            skipped_alignments: reader.skipped_alignments(),
            peak_memory: merganser_run::peak_rss(),
            ..outcome
        })
        .map_err(|error| reading::cause(&reader, cancel, error))
}

/// Chooses the GPUs that count; none for the CPU.
fn choose_devices(
    config: &Config,
    context: &Context,
    inputs: &[Input],
    has_panel: bool,
) -> Result<Vec<u32>, Error> {
    let text = merganser_io::text_bytes(inputs);
    let devices = context.choose_gpus(Work::Count, text, merganser_gpu::usable)?;
    let memory = context.gpu_memory;
    let pays = with_kmer!(config.k, K => crate::cuda::plan::pay::<K>(memory, devices.len(), text));
    if !devices.is_empty() && !has_panel && !pays {
        context
            .progress
            .note("the usable GPU memory is too small for this input: counting on the CPU instead");
        return Ok(Vec::new());
    }
    Ok(devices)
}

/// Warns if the result is empty, and if counts are too large for a table.
fn warn(config: &Config, outcome: &Outcome, warnings: &Warnings) {
    if outcome.records == 0 {
        warnings.push("no k-mers: the input has no records");
    } else if outcome.total_kmers == 0 {
        let records = match outcome.records {
            1 => "its only record has no".to_owned(),
            all => format!("none of {} records has", thousands(all)),
        };
        warnings.push(format!("no k-mers: {records} {} usable bases in a row", config.k));
    } else if outcome.kept_kmers == 0 && config.panel.is_some() {
        warnings.push("no k-mer of the panel occurs in the input within the limits of counts");
    } else if outcome.kept_kmers == 0 {
        warnings.push("no k-mer occurs as often as asked for; `min_count` 1 keeps all");
    }
    if outcome.saturated {
        warnings.push(format!("counts over {0} are stored as {0}", thousands(u64::from(u32::MAX))));
    }
}

/// Returns the description of a shard of these inputs, for the header of its table.
fn piece_of(
    config: &Config,
    shard: Shard,
    inputs: &[Input],
    (threads, cancel): (usize, &Cancel),
) -> Result<Piece, Error> {
    let flags = [config.is_canonical(), config.hpc, config.min_qual.is_some()];
    // Phred+33 is left out of the hash, because shards of earlier versions do not have it.
    let quality = [config.min_qual.unwrap_or_default(), config.quality_offset.number()];
    let is_usual = config.min_qual.is_none() || config.quality_offset == QualityOffset::Phred33;
    let job = JobHash::new()
        .with(&merganser_io::fingerprint::<Error>(inputs, threads, cancel)?.to_le_bytes())
        .with(&config.k.to_le_bytes())
        .with(&flags.map(u8::from))
        .with(if is_usual { &quality[..1] } else { &quality })
        .with(&shard.of().to_le_bytes());
    Ok(Piece { kind: PieceKind::Shard, shard, job: job.finish() })
}

/// Samples the signatures of a chunk, if there is one.
fn sample(config: &Config, chunk: Option<&Chunk>) -> Result<Sampler, Error> {
    let mut sink = Fragments::new(Sampler::new(config), config);
    if let Some(chunk) = chunk {
        sink.chunk(chunk)?;
    }
    Ok(sink.consumer)
}

/// The state that all phases share.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'r> {
    pub(crate) job: Job<'r>,
    pub(crate) config: &'r Config,
    pub(crate) reader: &'r Reader,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) cancel: &'r Cancel,
}

impl RunContext<'_> {
    fn count<K: Width + GpuKmer>(self, files: TableOutput) -> Result<Outcome, Error> {
        self.progress.stage("reading", Unit::Bytes, self.reader.bytes_total());
        let outcome = if self.config.k <= small::MAX_K {
            self.count_small::<K>(files)
        } else if !self.job.devices.is_empty() {
            self.count_on_gpus::<K>(files)
        } else {
            self.count_by_bins::<K>(files)
        };
        self.progress.finish();
        outcome
    }

    pub(crate) fn reading(&self) -> ReadContext<'_> {
        ReadContext {
            job: self.job,
            reader: self.reader,
            progress: self.progress,
            cancel: self.cancel,
        }
    }

    /// Counts with one counter for each possible k-mer: one pass, no bins.
    fn count_small<K: Width>(self, files: TableOutput) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let pool = self.pool(plan::plan::<K>(self.job, 1)?);
        let started = Instant::now();
        let (all, tally) = self.small_counts()?;
        outcome.read(tally);
        outcome.total_kmers = all.kmers;
        outcome.stage("count", started);
        let results = Results::<K>::new(self.config, &pool);
        let mut writer = results.writer();
        for (kmer, count) in all.iter(self.config.is_canonical()) {
            writer.add(K::from_low(u64::from(kmer)), count)?;
        }
        outcome.histogram = writer.finish()?;
        self.emit(&results, &pool, files, &mut outcome)?;
        Ok(outcome)
    }

    /// Reads all input and returns the counts of its k-mers, of at most [`small::MAX_K`] bases.
    fn small_counts(&self) -> Result<(SmallCounter, Tally), Error> {
        let make = || SmallCounter::new(self.config.k);
        let (counters, tally) = read_all(&self.reading(), None, make)?;
        let mut all = make();
        counters.iter().for_each(|counter| all.merge(counter));
        Ok((all, tally))
    }

    /// Counts on the CPU in three phases: partition, count, emit.
    fn count_by_bins<K: Width>(self, files: TableOutput) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let started = Instant::now();
        let (config, map, plan, first) = self.sample::<K>()?;
        let pool = self.pool(plan);
        let store = Bins::new(&pool, plan.bins);
        outcome.bins = plan.bins;
        outcome.stage("sample", started);

        let started = Instant::now();
        let make = || Partitioner::new(&config, &map, Writer::new(&store, plan::stride(plan.bins)));
        let (partitioners, tally) = read_all(&self.reading(), first, make)?;
        let mut sent = Partitioned::default();
        for partitioner in partitioners {
            sent.add(partitioner.finish()?);
        }
        outcome.read(tally);
        outcome.total_kmers = sent.kmers;
        outcome.super_kmers = sent.super_kmers;
        outcome.super_kmer_bytes = sent.bytes;
        outcome.stage("partition", started);

        let started = Instant::now();
        self.progress.stage("counting", Unit::Bytes, Some(sent.bytes));
        let most = plan::sorted_at_once::<K>(self.job);
        let results = Results::<K>::new(self.config, &pool).sorting(most);
        outcome.histogram = self.count_bins(&store, &results, plan)?;
        outcome.stage("count", started);
        self.emit(&results, &pool, files, &mut outcome)?;
        outcome.spilled_bytes = pool.spilled();
        if outcome.spilled_bytes > 0 {
            outcome.enough_memory = plan::memory_for::<K>(self.job, plan.bins, pool.max_bytes());
        }
        // Releasing gigabytes of memory and a file on disk takes time.
        let started = Instant::now();
        drop((results, store));
        drop(pool);
        outcome.stage("clean up", started);
        Ok(outcome)
    }

    /// Samples the first chunk to choose the number of bins, and the signatures and their length of each; returns the
    /// configuration with this length, and the chunk for counting.
    fn sample<K: Width>(&self) -> Result<(Config, BinMap, Plan, Option<Chunk>), Error> {
        let (mut sampler, first, expected) = self.sample_first()?;
        let plan = plan::plan::<K>(self.job, plan::bins(self.config, expected))?;
        let plan = plan.for_kmers::<K>(self.config.k, expected);
        let bases = plan::signature_bases(self.config, plan.bins);
        let config = Config { minimizer_len: Auto(Some(bases)), ..self.config.clone() };
        if bases != self.config.signature_bases() {
            sampler = sample(&config, first.as_ref())?;
        }
        let map = BinMap::balanced(sampler.slots(), &sampler.weights, plan.bins);
        Ok((config, map, plan, first))
    }

    /// Returns the signatures of the first chunk, the chunk, and the estimated number of k-mers of all input.
    pub(crate) fn sample_first(&self) -> Result<(Sampler, Option<Chunk>, Option<u64>), Error> {
        let mut chunk = Chunk::default();
        let first = self.reader.next_chunk(&mut chunk)?.then_some(chunk);
        let sampler = sample(self.config, first.as_ref())?;
        let expected = self.reader.bytes_total().map(|bytes| {
            let sampled = first.as_ref().map_or(0, Chunk::source_bytes);
            (sampler.kmers as f64 * bytes as f64 / sampled.max(1) as f64) as u64
        });
        Ok((sampler, first, expected))
    }

    pub(crate) fn pool(&self, plan: Plan) -> BlockPool {
        self.pool_in(self.config.storage, plan)
    }

    fn pool_in(&self, storage: Storage, plan: Plan) -> BlockPool {
        let directory = self.job.temp_dir.to_owned();
        let spilling = Spilling { storage, limit: plan.full_bytes, directory };
        BlockPool::new(plan.block_bytes, spilling)
    }

    /// Runs phase 2: the workers count bins, the largest first.
    fn count_bins<'p, K: Width>(
        &self,
        store: &Bins<'p>,
        results: &Results<'p, K>,
        plan: Plan,
    ) -> Result<Histogram, Error> {
        let mut order: Vec<usize> = (0..store.bins()).collect();
        order.sort_by_key(|&bin| (std::cmp::Reverse(store.bytes(bin)), bin));
        let parts = each(self.job.threads, 0..order.len(), self.cancel, |numbers| {
            let mut counter = Counter::new(self.config, plan.table_bytes, results);
            for bin in numbers.map(|number| order[number]) {
                let contents = store.take(bin);
                counter.count(&contents)?;
                self.progress.advance(contents.bytes());
            }
            counter.finish()
        })?;
        let mut histogram = Histogram::default();
        parts.iter().for_each(|part| histogram.merge(part));
        Ok(histogram)
    }

    /// Runs phase 3: sorts and writes the kept k-mers while the memory of super-k-mers in `pool` is released.
    pub(crate) fn emit<K: Width>(
        &self,
        source: &dyn TableContents<K>,
        pool: &BlockPool,
        files: TableOutput,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        self.keep(outcome);
        thread::scope(|scope| {
            if self.config.format != Format::None {
                start_scoped(scope, || pool.trim())?;
            }
            self.write(source, files, outcome)
        })
    }

    /// Fills in which k-mers of the histogram the table has.
    fn keep(&self, outcome: &mut Outcome) {
        let (least, most) = (self.config.least(), self.config.most());
        outcome.kept_kmers = outcome.histogram.distinct(least, most);
        outcome.saturated = outcome.histogram.max() == u32::MAX;
    }

    /// Sorts and writes the kept k-mers.
    fn write<K: Width>(
        &self,
        source: &dyn TableContents<K>,
        files: TableOutput,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        if self.config.format == Format::None {
            return Ok(());
        }
        let started = Instant::now();
        let synced = output::write(files, self.job, source, outcome, self.cancel)?;
        outcome.stages.add("sort and write", started.elapsed().saturating_sub(synced));
        outcome.stages.add("sync", synced);
        Ok(())
    }
}
