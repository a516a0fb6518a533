//! Whole runs: the order of the stages, and the choice of the backend. Reads are mapped on all threads,
//! and written in input order.

mod build;
mod gpus;
mod learn;
mod memory;
mod planned;
mod worker;

#[cfg(test)]
mod backends;

use std::sync::OnceLock;
use std::time::Instant;

use merganser_alignments::{
    Cram, Form, Held, IndexKind, RecordStyle, Sorted, Sorting, warn_of_names,
};
use merganser_io::{OutputSet, ReadInput, text_bytes};
use merganser_run::engine::{Engine, Work as _};
use merganser_run::{
    ConfigError, Context, DeviceChoice, Stages, Unit, Warnings, Work, peak_rss, thousands,
};

use crate::cpu::{Mapper, Strata, prefilter};
use crate::cuda::{self, Gpus};
use crate::discordance::{self, Tallies};
use crate::effort::Effort;
use crate::groups::KeptTags;
use crate::index::{Index, IndexView, SHORTEST};
use crate::output::{
    Letters, ManyRecords, OutputPaths, Outputs, PairFinder, Placements, Reported, Reporter, Writer,
};
use crate::parts::Parts;
use crate::source::{ReadSource, longest_record};
use crate::{Config, Contig, Error, Format, InsertSizes, MAX_READ, Prefilter, Select};
#[cfg(test)]
pub(crate) use build::build_of;
pub use build::{BuildOutcome, build, build_in_memory, build_with};
use gpus::WithGpus;
use learn::Learner;
use memory::{IndexSize, Memory};
pub use planned::{BuildPlan, plan_build, plan_run};
use worker::{Texts, Worker, WorkerDone};

/// The results of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of reads; both mates of a pair count.
    pub records: u64,
    /// The number of secondary and supplementary alignments in the inputs, which are skipped because other
    /// records hold their reads.
    pub skipped_alignments: u64,
    /// Times of the stages. `gpus`, if any are used: opening them. `map`: from the opening of the GPUs to the last
    /// record. `sort`: until all sorted records were written. `sync`: until
    /// the disk confirmed the outputs.
    pub stages: Stages,
    /// The copy of the index to GPUs. It is part of `map`: reads are parsed meanwhile.
    pub uploaded: merganser_gpu::Uploaded,
    /// The GPUs that were used.
    pub devices: Vec<merganser_gpu::DeviceInfo>,
    /// The number of bytes of records that were spilled to disk before sorting.
    pub spilled_bytes: u64,
    /// The memory, in bytes, with which no records would have been spilled.
    pub memory_without_spill: u64,
    /// The peak memory of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The numbers of reads, pairs and records that were reported.
    pub reported: Reported,
    /// The minimum and the maximum insert size of concordant pairs, in bases.
    pub inserts: [u32; 2],
    /// The insert sizes that were learned, if any were.
    pub insert_sizes: Option<InsertSizes>,
    /// Pairs of each input by the arrangement of their mates.
    tallies: Tallies,
    /// Statistics about the places of reads, if [`Config::placements`] is set.
    pub placements: Option<Placements>,
    /// The work of the search, and its times.
    pub effort: Effort,
}

/// The number of batches per thread that may be mapped ahead of the one to be written next.
const AHEAD: u64 = 4;
/// Maps all reads and writes their records to the files `outputs` (a path, or [`OutputPaths`]), in input order or, with
/// [`Config::sort`], in the reference's order and with an index, in the format [`Config::format`]. The written bytes
/// do not depend on `context` or [`Config::filter`].
///
/// The progress has the stage `map`, in bytes of input, and for sorted records the stage `sort`. If
/// [`DeviceChoice::Auto`] finds GPUs without enough memory for the index, the CPU maps, and a note says so.
///
/// # Errors
/// If the configuration is invalid, the index is damaged, a requested GPU cannot be used, there is too little
/// memory, the input is invalid (the first fault in input order is reported), an output cannot be written, or
/// the run is cancelled. No output appears then.
pub fn run(
    config: &Config,
    index: &Index,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    outputs: impl Into<OutputPaths>,
    context: &Context,
) -> Result<Outcome, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let set = OutputSet::new();
    let outputs = outputs.into().create(config, index, &set)?;
    let outcome = run_with(config, index, &reads, outputs, context)?;
    set.commit()?;
    Ok(outcome)
}

/// Maps reads like [`run()`], to open outputs, which appear when their set is committed.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Config,
    index: &Index,
    inputs: &[ReadInput],
    outputs: Outputs,
    context: &Context,
) -> Result<Outcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let threads = context.threads;
    let kind = outputs.index.as_ref().map(|(_, kind)| *kind);
    check(config, index.contigs(), inputs, kind, context)?;
    if config.share.is_some() {
        outputs.records.refuse_direct()?;
    }
    index.check(threads, cancel)?;
    warn_of_names(index.contigs(), &context.warnings);
    let view = index.view();
    let gaps = view.gaps(config.n_mode);
    let ordinals = choose_gpus(context, index, &gaps, inputs)?;
    let (begun, mut stages) = (Instant::now(), Stages::default());
    let letters = match config.format {
        Format::Cram => Some(Letters::new(index, config.fasta.as_deref(), cancel)?),
        _ => None,
    };
    let kept = KeptTags::new(config, inputs, context)?;
    let cram = letters.as_ref();
    let mut cram =
        cram.map(|letters| Cram::new(letters, &config.read_groups, threads, cancel)).transpose()?;
    let paired = config.may_have_pairs(inputs);
    let learns = learn::is_wanted(config, paired);
    let held = learn::held_bytes(learns, inputs);
    let holds = held > 0;
    let memory = Memory::new(config, context, &IndexSize::of(index), paired, held)?;
    let sorting = config.sort.then(|| {
        Sorting::new([memory.left, memory.writing], threads as u64, &context.temp_dir, cancel)
    });
    let packed = if is_ruled(config) { Some(prefilter::pack(&view.text)?) } else { None };
    let styles = RecordStyle::all(config.format, index.contigs(), config.eqx, &config.read_groups);
    let mut gpus = None;
    if !ordinals.is_empty() {
        let (memory, room) = (context.gpu_memory, memory.room);
        gpus = Some(Gpus::open(&view, &gaps, config, &ordinals, memory, threads, room)?);
        stages.since("gpus", begun);
    }
    index.warn_of_none(&context.warnings);
    let inflater = gpus.as_ref().and_then(|gpus| gpus.inflater(context));
    let longest = longest_record(memory.left / threads as u64);
    let source = ReadSource::open(inputs, config, context, longest, inflater, Some(&kept))?;
    progress.stage("map", Unit::Bytes, source.bytes_total());
    let keeps_unmapped = outputs.unmapped.is_some();
    let writer = Writer::new(config, index, cram.as_ref(), inputs, &kept, outputs);
    let uploaded = OnceLock::new();
    let fill = || {
        if let Some(gpus) = &gpus {
            let read = |part: &[u8], to: &mut [u8]| index.read(part, to);
            // The engine calls this once.
            let _ = uploaded.set(gpus.fill(&view, &gaps, threads, cancel, read)?);
        }
        Ok(())
    };
    let engine = Engine::new(&source, writer, AHEAD * threads as u64, progress, cancel);
    let engine = match gpus.is_some() {
        true => engine.with_slots_in_order().with_preparation(&fill),
        false => engine,
    };
    let learner = learns.then(|| Learner::new(view, config, &gaps, memory.room, longest, context));
    let held = match &learner {
        Some(learner) if holds => {
            let (searcher, more) = (|| learner.searcher(), || learner.wants_more());
            engine.hold(threads, searcher, more, |searcher, batch| {
                let batch = std::mem::take(batch);
                learner.look(searcher, &batch).map(|()| batch)
            })?
        }
        Some(learner) => {
            learner.read(inputs)?;
            Vec::new()
        }
        None => Vec::new(),
    };
    let learned = learner.map(Learner::finish);
    let completed =
        learned.as_ref().map(|learned| learn::complete(config, learned, context)).transpose()?;
    let config = completed.as_ref().unwrap_or(config);
    let best = Config { select: Select::Best, ..config.clone() };
    let worker = |gpus| {
        let mapper = Mapper::new(view, config, &gaps, packed.as_ref(), cancel);
        let mapper = mapper.with_room(memory.room);
        let strata = Strata::new(view, config, cancel);
        let finder = PairFinder::new(view, config, memory.room, cancel);
        let many = ManyRecords::new(&context.warnings, progress);
        let reporter = Reporter::new(view, config, &styles, &kept, many, cancel);
        let texts = Texts::new(config.format, sorting.as_ref(), keeps_unmapped, memory.long);
        let parts = Parts::new(view, [config, &best], &gaps, memory.room, cancel);
        Worker::new(mapper, strata, gpus, finder, reporter, texts, parts)
    };
    // Devices are prepared only later.
    let first = engine.run_held(
        threads,
        held,
        || worker(None),
        |worker, batch, turn| batch.and_then(|mut batch| worker.work(&mut batch, turn)),
    )?;
    let rest = engine.run(threads, || worker(gpus.as_ref().map(WithGpus::new)))?;
    let workers = first.into_iter().chain(rest);
    let (mut outcome, held) = Outcome::of(workers.map(Worker::finish));
    outcome.insert_sizes = learned.and_then(|learned| learned.sizes);
    outcome.inserts = config.inserts();
    outcome.skipped_alignments = source.skipped_alignments();
    let mut writer = engine.finish()?;
    // The results are only valid if the index file was not changed meanwhile.
    index.check(threads, cancel)?;
    stages.since("map", begun);
    if let Some(sorting) = &sorting {
        let begun = Instant::now();
        if let Some(cram) = &mut cram {
            cram.set_groups(kept.groups()?);
        }
        let form = match (&cram, config.format) {
            (Some(cram), _) => Form::Cram(cram),
            (None, Format::Bam(level)) => Form::Bam(level),
            (None, _) => Form::Bam(0),
        };
        let sorted = Sorted { sorting, held, form, threads };
        writer.write_sorted(sorted, index.contigs(), progress)?;
        outcome.spilled_bytes = sorting.spilled_bytes();
        outcome.memory_without_spill = memory.without_spill(sorting, threads as u64);
        stages.since("sort", begun);
    }
    let records = outcome.reported.records(!config.no_unmapped);
    stages.add("sync", writer.finish(records)?);
    progress.finish();
    outcome.devices = gpus.as_ref().map_or_else(Vec::new, Gpus::devices);
    outcome.uploaded = uploaded.into_inner().unwrap_or_default();
    warn(config, &outcome, &context.warnings);
    discordance::warn(&outcome.tallies, config, inputs, &context.warnings);
    Ok(Outcome { stages, peak_memory: peak_rss(), ..outcome })
}

/// If none of this many reads was mapped, a warning says so.
const MANY: u64 = 100;

/// Warns about empty input, reads that are slow or impossible to map, and hits that were left out.
fn warn(config: &Config, outcome: &Outcome, warnings: &Warnings) {
    let (reported, effort) = (&outcome.reported, &outcome.effort);
    warnings.expect_reads(reported.reads);
    if reported.mapped == 0 && reported.reads >= MANY {
        warnings.push(
            "no read was mapped: are reads and reference of the same organism, and the reads short and with few errors? \
             `threshold` is the maximum number of edits",
        );
    }
    if effort.scanned > 0 {
        warnings.push(format!(
            "{} reads are too short for the seeds that `threshold` requires (one more than edits, of {SHORTEST} \
             bases each): the whole reference was scanned for each of them, which is slow",
            thousands(effort.scanned),
        ));
    }
    if reported.hopeless > 0 {
        warnings.push(format!(
            "{} reads have no more bases than `threshold` allows edits, and are reported as unmapped",
            thousands(reported.hopeless)
        ));
    }
    if reported.too_long > 0 {
        warnings.push(format!(
            "{} reads have more than {} bases, and are reported as unmapped: map them with a mapper of long reads",
            thousands(reported.too_long),
            thousands(MAX_READ as u64)
        ));
    }
    if reported.cut > 0 {
        warnings.push(format!(
            "{} reads or pairs have more than the {} hits that `max_hits` allows",
            thousands(reported.cut),
            config.max_hits
        ));
    }
}

impl Outcome {
    /// Sums up the results of the workers, and returns the records that are not written yet.
    fn of<'r>(done: impl Iterator<Item = WorkerDone<'r>>) -> (Outcome, Vec<Held<'r>>) {
        let (mut outcome, mut all) = (Outcome::default(), Vec::new());
        for WorkerDone { reported, tallies, placements, effort, held } in done {
            outcome.reported.add(&reported);
            outcome.tallies.add(&tallies);
            match (&mut outcome.placements, placements) {
                (Some(sum), Some(more)) => sum.add(more),
                (None, more) => outcome.placements = more,
                _ => {}
            }
            outcome.effort.add(&effort);
            all.extend(held);
        }
        outcome.records = outcome.reported.reads;
        (outcome, all)
    }
}

/// Returns the CUDA ordinals of the GPUs to use; empty if the CPU maps.
fn choose_gpus(
    context: &Context,
    index: &Index,
    gaps: &[[u32; 2]],
    inputs: &[ReadInput],
) -> Result<Vec<u32>, Error> {
    let progress = &*context.progress;
    let size = text_bytes(inputs.iter().flat_map(ReadInput::inputs));
    let work = Work::Map { reference: index.bases(), repeats: index.view().repeats() };
    let gpus = context.choose_gpus(work, size, merganser_gpu::usable)?;
    if gpus.is_empty() || context.device != DeviceChoice::Auto {
        return Ok(gpus);
    }
    let view: IndexView<'_> = index.view();
    match cuda::check_room(&view, gaps, &gpus, context.gpu_memory) {
        Ok(()) => Ok(gpus),
        Err(why) => {
            progress.note(&format!("computing on the CPU: {why}"));
            Ok(Vec::new())
        }
    }
}

/// Checks the configuration, also against the contigs of the index and the inputs.
fn check(
    config: &Config,
    contigs: &[Contig],
    inputs: &[ReadInput],
    kind: Option<IndexKind>,
    context: &Context,
) -> Result<(), Error> {
    config.validate()?;
    context.validate()?;
    if let Some(problem) = kind.and_then(|kind| kind.problem(contigs)) {
        return Err(Error::Config(ConfigError::new(problem)));
    }
    if config.read_groups.len() > 1 && config.read_groups.len() != inputs.len() {
        let (groups, inputs) = (config.read_groups.len(), inputs.len());
        let problem = format!(
            "there are {groups} of `read_group` and {inputs} inputs: give one for all, or one for each input"
        );
        return Err(Error::Config(ConfigError::new(problem)));
    }
    Ok(())
}

/// Whether a rule of the `filter` crate rejects candidates.
fn is_ruled(config: &Config) -> bool {
    matches!(config.filter, Prefilter::GateKeeper | Prefilter::Snake) && !config.hamming
}
