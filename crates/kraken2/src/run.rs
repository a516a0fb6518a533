//! A run over files of reads with a Kraken 2 database: classifies the reads with all workers, and writes the
//! results in input order.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use merganser_alignments::RecordOptions;
use merganser_gpu::{DeviceInfo, Uploaded};
use merganser_io::{Needs, ReadInput, Records};
use merganser_run::engine::{Engine, Turns};
use merganser_run::{
    Cancel, ConfigError, Context, DeviceChoice, JobPlan, Progress, Stages, Unit, format_given,
    format_needed, peak_rss,
};

use super::by_database::counts_of;
use super::config::Kraken2Config;
use super::counts::Kraken2Counts;
use super::database::Kraken2Database;
use super::plan::Plan;
use super::rounds::Rounds;
use super::work::{Batches, CutReads, RunContext, Worker, Written};
use super::worker::Kraken2Classifier;
use crate::cuda::{Kraken2Gpus, RangeGpu, Wanted};
use crate::partial::write_results;
use crate::read_share::reads_of;
use crate::{Error, Kraken2ReportOptions, ReadShare};
use merganser_taxreport::output::{
    LinesSum, OutputFiles, OutputPaths, Outputs, SEGMENTS_HEADING, Wants,
};
use merganser_taxreport::partial::WrittenShard;
use merganser_taxreport::report::Tally;

/// The number of batches per worker that may be started ahead of the one to be written.
const AHEAD: u64 = 4;
/// The size of a batch in bytes if many batches wait in memory.
const WAITING_BATCH: usize = 256 << 10;

/// The results of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Kraken2Outcome {
    /// The number of reads; a pair is one read.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, which were skipped: other records have their reads. 0 if
    /// alignments are written.
    pub skipped_alignments: u64,
    /// The duration of each stage: `devices`, until devices are open (only with devices), and `classify`, from the
    /// first read to the last line.
    pub stages: Stages,
    /// The copy of the table to devices, unless an earlier run did it; in rounds, the copies of all ranges. It is part of
    /// `classify`: reads are parsed meanwhile.
    pub uploaded: Uploaded,
    /// The GPUs that were used.
    pub devices: Vec<DeviceInfo>,
    /// The peak resident size of the process so far in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The number of reads with a taxon.
    pub classified: u64,
    /// The reads and minimizers by taxon, for the report.
    pub counts: Kraken2Counts,
    /// The number of bases of all reads.
    pub bases: u64,
    /// The number of times that the table was read range by range because it does not fit in memory; 0 if it
    /// fits in memory, or in that of the devices.
    pub rounds: u64,
}

impl Kraken2Outcome {
    /// Returns the reads by the nodes of the database's [`tree`](Kraken2Database::tree).
    pub fn tally(&self, database: &Kraken2Database) -> Tally {
        self.counts.tally(database.taxonomy(), database.tree())
    }
}

/// Classifies reads, one input after the other, as Kraken 2 does, and writes the files of `outputs`, which appear at
/// the end, in the order of the reads. The bytes are those of Kraken 2; they depend only on the
/// database, the configuration and the reads. The progress has one stage, in bytes of input.
///
/// The table of the database is memory-mapped, so that processes share it and its pages are part of the
/// system's cache; for many reads, a table that the system has in small pages is copied to huge ones if there is room. If a memory limit is [given](Context::memory), its pages count towards the limit. If the
/// table does not fit in the limit, or in free memory if there is no limit, reads are classified in rounds:
/// each round has as many reads as fit and reads the table once, and the progress gets a note. If GPUs are requested
/// explicitly and the table does not fit in their memory, reads are classified in rounds as well, and the first of the
/// GPUs performs the searches in one range of the table after the other.
///
/// # Errors
/// If `config` or `context` is out of range; if requested GPUs cannot be used, or have too little memory for a range of
/// the table; if there is too little memory; if reading or writing fails; if mates are out of step; if the
/// database turns out to be damaged; if cancelled.
pub fn run(
    config: &Kraken2Config,
    database: &Kraken2Database,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    outputs: &OutputPaths,
    context: &Context,
) -> Result<Kraken2Outcome, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let mut files = OutputFiles::create(outputs, &reads, context)?;
    let outcome = run_with(config, database, &reads, &mut files.streams(), context)?;
    let options =
        Kraken2ReportOptions { zero_counts: false, minimizers: config.report_minimizer_data };
    let taxonomy = database.taxonomy();
    files.commit(context, |output| outcome.counts.write_report(taxonomy, options, output))?;
    Ok(outcome)
}

/// Classifies reads like [`run()`], to any writers.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Kraken2Config,
    database: &Kraken2Database,
    segments: &[ReadInput],
    outputs: &mut Outputs<'_>,
    context: &Context,
) -> Result<Kraken2Outcome, Error> {
    check(config, outputs.segments.is_some(), context)?;
    let context = &Wants::of(outputs, config.share.is_some())?.context(context);
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let begun = Instant::now();
    database.tell(progress, &context.warnings);
    let ((gpus, range_gpu), plan) = devices_and_plan(config, context, database, segments)?;
    if plan.rounds.is_some() {
        let memory = match &range_gpu {
            Some(gpu) => {
                let (device, range) = (gpu.info().ordinal, format_given(gpu.range()));
                format!(
                    "memory of cuda:{device}, the only device used, for ranges of it is {range}"
                )
            }
            None => format!("memory is {}", format_given(context.budget())),
        };
        progress.note(&format!(
            "the table needs {}, and the {memory}: reads are classified in rounds, each of which \
             reads the whole table",
            format_needed(database.table_bytes())
        ));
    }
    let mut stages = Stages::default();
    if gpus.is_some() || range_gpu.is_some() {
        stages.since("devices", begun);
    }
    let begun = Instant::now();
    if gpus.is_none() && plan.rounds.is_none() {
        let reads = segments.iter().flat_map(ReadInput::inputs);
        database.tables.prepare_for_random_accesses(merganser_io::text_bytes(reads), context);
    }
    let planned = Planned { config, context, database, plan, gpus, range_gpu };
    let mut outcome = planned.classify(segments, outputs, progress, cancel)?;
    progress.finish();
    stages.since("classify", begun);
    (outcome.stages, outcome.peak_memory) = (stages, peak_rss());
    Ok(outcome)
}

/// A run whose memory and devices are decided.
struct Planned<'a> {
    config: &'a Kraken2Config,
    context: &'a Context,
    database: &'a Kraken2Database,
    plan: Plan,
    gpus: Option<Arc<Kraken2Gpus>>,
    /// The device that performs the searches of rounds.
    range_gpu: Option<RangeGpu>,
}

impl Planned<'_> {
    /// Classifies and writes. The outcome lacks durations and memory use.
    fn classify(
        &self,
        segments: &[ReadInput],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Kraken2Outcome, Error> {
        let &Planned { config, context, database, plan, ref gpus, ref range_gpu } = self;
        let wants = Wants::of(outputs, config.share.is_some())?;
        let classifier = Kraken2Classifier::new(database, config).with_segments(wants.segments);
        let options = record_options(config, &wants, gpus.is_some(), plan);
        let threads = context.threads;
        let warnings = context.warnings.clone();
        let needs = Some(Needs { bases: database.options().k - 1, uracil: false });
        let inflater = gpus.as_ref().and_then(|gpus| gpus.inflater(context));
        let cancelled = cancel.clone();
        let options = RecordOptions {
            workers: threads,
            needs,
            cancel: cancelled,
            warnings,
            inflater,
            ..options
        };
        let records = Records::open(segments, options)?;
        if let Some(segments) = &mut outputs.segments
            && config.share.as_ref().is_none_or(ReadShare::is_first)
        {
            segments.write_all(SEGMENTS_HEADING)?;
        }
        progress.stage("classify", Unit::Bytes, records.bytes_total());
        let by_database = counts_of(database, config.database_report)?;
        let counts = Kraken2Counts::counting(by_database);
        let joining = Arc::clone(&counts.joining);
        let lines_sum = LinesSum::default();
        let sink = Written { outputs, counts, bases: 0, reads_sum: 0, lines_sum };
        let blocks = config.report_minimizer_data.then(Turns::default);
        let reads = CutReads { records, blocks, joining };
        let uploaded = OnceLock::new();
        let fill = || {
            if let Some(gpus) = gpus.as_deref() {
                // The engine calls this once.
                let _ = uploaded.set(database.fill(gpus, context)?);
            }
            Ok(())
        };
        let batches = Engine::new(&reads, sink, AHEAD * threads as u64, progress, cancel);
        let batches = if gpus.is_some() { batches.with_preparation(&fill) } else { batches };
        let run = RunContext { taxonomy: database.taxonomy(), wants: wants.clone() };
        let rounds = self.work(&run, &batches, &classifier, cancel)?;
        let Written { outputs, mut counts, bases, reads_sum, lines_sum } = batches.finish()?;
        let CutReads { records, blocks, .. } = reads;
        counts.close(threads)?;
        counts.is_cut = blocks.is_some_and(|blocks| blocks.into_inner().is_open());
        if let Some(output) = &mut outputs.partial {
            let written =
                WrittenShard::of(config.share.as_ref().map(ReadShare::job_shard), lines_sum);
            let found = (&counts, reads_sum);
            write_results(database, config, found, written, cancel, output)?;
        }
        Ok(Kraken2Outcome {
            records: counts.reads(),
            skipped_alignments: wants.skipped(records.skipped_alignments()),
            devices: match gpus {
                Some(gpus) => gpus.devices(),
                None => range_gpu.iter().map(RangeGpu::info).collect(),
            },
            uploaded: match range_gpu {
                Some(gpu) => gpu.uploaded(),
                None => uploaded.into_inner().unwrap_or_default(),
            },
            classified: counts.reads() - counts.unclassified(),
            counts,
            bases,
            rounds,
            ..Kraken2Outcome::default()
        })
    }

    /// Processes all batches and returns how many times the table was read for them.
    fn work(
        &self,
        run: &RunContext<'_>,
        batches: &Batches<'_, '_, '_>,
        classifier: &Kraken2Classifier<'_>,
        cancel: &Cancel,
    ) -> Result<u64, Error> {
        let threads = self.context.threads;
        if let Some(plan) = self.plan.rounds {
            let (tables, gpu) = (&self.database.tables, self.range_gpu.as_ref());
            return Rounds { run, batches, classifier, tables, gpu, plan, threads, cancel }.work();
        }
        let worker = || Worker { run, worker: classifier.worker() };
        batches.run_on(threads, self.gpus.as_deref(), worker)?;
        Ok(0)
    }
}

/// Returns the options for reading records.
fn record_options(
    config: &Kraken2Config,
    wants: &Wants<'_>,
    on_gpus: bool,
    plan: Plan,
) -> RecordOptions {
    let usual = RecordOptions::default();
    let [batch_records, batch_bytes] = match on_gpus {
        true => Kraken2Gpus::batch(),
        false if plan.rounds.is_some() => [usual.batch_records, WAITING_BATCH],
        false => [usual.batch_records, usual.batch_bytes],
    };
    RecordOptions {
        keep: wants.keep(config.min_qual > 0),
        keep_alignments: wants.alignments(),
        batch_records: config.batch_records.unwrap_or(batch_records).max(1),
        batch_bytes,
        max_record: plan.record,
        reads: reads_of(config.share.as_ref()),
        any_names: config.any_names,
        find_pairs: true,
        overlapping: on_gpus,
        phred: config.phred(),
        ..usual
    }
}

/// Determines how [`run`] would classify `reads`, without reading: on which devices, in rounds or not, and with how much
/// memory. `segments` says whether segments of reads are classified.
///
/// # Errors
/// If `config` or `context` is out of range, a device cannot be used, or there is too little memory.
pub fn plan_run(
    config: &Kraken2Config,
    database: &Kraken2Database,
    (reads, segments): (&[ReadInput], bool),
    context: &Context,
) -> Result<JobPlan, Error> {
    check(config, segments, context)?;
    let ((gpus, range_gpu), plan) = devices_and_plan(config, context, database, reads)?;
    let mut devices = gpus.map_or_else(Vec::new, |gpus| gpus.devices());
    devices.extend(range_gpu.map(|gpu| gpu.info()));
    let found = JobPlan::on(devices.iter().map(|device| device.ordinal).collect());
    let found = found.with_memory(plan.needed);
    Ok(match plan.rounds {
        Some(_) => {
            found.with_note("the table does not fit into memory: reads are classified in rounds")
        }
        None => found,
    })
}

/// Checks the configuration.
fn check(config: &Kraken2Config, segments: bool, context: &Context) -> Result<(), Error> {
    config.validate()?;
    context.validate()?;
    match config.quick && segments {
        true => Err(Error::Config(ConfigError::new(
            "segments need all k-mers of a read, and `quick` stops before its end",
        ))),
        false => Ok(()),
    }
}

/// The devices that hold the tables, or the one that performs the searches of rounds.
type Chosen = (Option<Arc<Kraken2Gpus>>, Option<RangeGpu>);

/// Chooses the devices, and divides the memory.
fn devices_and_plan(
    config: &Kraken2Config,
    context: &Context,
    database: &Kraken2Database,
    segments: &[ReadInput],
) -> Result<(Chosen, Plan), Error> {
    let (gpus, range_gpu) = devices(config, context, database, segments)?;
    let plan = match &range_gpu {
        Some(gpu) => Plan::with_ranges(context, database, gpu.range())?,
        None => Plan::new(context, database, gpus.is_some())?,
    };
    Ok(((gpus, range_gpu), plan))
}

/// Returns the devices that hold the tables, or the one that performs the searches of rounds; none to use only the CPU.
fn devices(
    config: &Kraken2Config,
    context: &Context,
    database: &Kraken2Database,
    segments: &[ReadInput],
) -> Result<Chosen, Error> {
    if context.device == DeviceChoice::Auto && Plan::takes_rounds(context, database) {
        return Ok((None, None));
    }
    let wanted = Wanted {
        minimizers: config.report_minimizer_data,
        databases: config.database_report && database.tables.single().is_none(),
    };
    let bytes = merganser_io::text_bytes(segments.iter().flat_map(ReadInput::inputs));
    match database.choose_gpus(context, bytes, wanted) {
        // The error of a device that is too small for ranges as well states what the whole table needs.
        Err(error @ Error::GpuMemory(_)) => match database.choose_range_gpu(context) {
            Ok(gpu) => Ok((None, Some(gpu))),
            Err(_) => Err(error),
        },
        gpus => Ok((gpus?, None)),
    }
}

#[cfg(test)]
mod tests;
