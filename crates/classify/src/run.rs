//! Classifies files of reads: read in order, classified by all workers, written in order.

mod clock;
mod devices;
mod found;
mod outcome;
mod partial;
mod passes;
mod plan;
mod segments;
mod storage;
mod work;

pub use crate::config::{Columns, LineFormat, RunConfig};
pub use devices::Devices;
pub use outcome::Outcome;

use std::io::Write;
use std::sync::Mutex;

use merganser_io::ReadInput;
use merganser_run::locks::{into_inner, lock};
use merganser_run::{ConfigError, Context, JobPlan, peak_rss};

use crate::ReferenceHits;
use crate::features::FeatureCounter;
use crate::output::LineWriter;
use crate::{Database, Error, GpuNotes, Query, QueryParams, Thresholds};
use clock::Clock;
use merganser_kraken2::ReadShare;
use merganser_taxreport::by_database::DatabaseReads;
use merganser_taxreport::output::{OutputFiles, SEGMENTS_HEADING, Wants};
pub use merganser_taxreport::output::{OutputPaths, Outputs, ReadOutput};
use merganser_taxreport::partial::WrittenShard;
use merganser_taxreport::report::ReportOptions;
use passes::RunContext;
use plan::Plan;

/// A database prepared for any number of runs with the same thresholds.
pub struct Classifier<'a> {
    database: &'a Database,
    query: Query<'a>,
    /// The parameters for which the query was prepared.
    params: QueryParams,
    nodes: Vec<u32>,
}

impl<'a> Classifier<'a> {
    /// Prepares `database` for the CPU.
    pub fn new(database: &'a Database, thresholds: &Thresholds) -> Classifier<'a> {
        Classifier {
            database,
            query: Query::with_thresholds(database, thresholds),
            params: thresholds.query_params(),
            nodes: database.targets().iter().map(|target| target.node).collect(),
        }
    }

    /// Prepares `database` for these devices. GPUs receive the database while the first run reads its first reads, and
    /// find the candidates.
    ///
    /// Parts that do not fit on the devices at the same time take turns: reads and their candidates then wait in
    /// memory or in temporary storage until all parts have been queried. If not even one part fits on automatically
    /// chosen GPUs, the CPU is used instead and the progress receives a note.
    ///
    /// # Errors
    /// If a GPU cannot be used; if it was requested and has no room for any part.
    pub fn on(
        database: &'a Database,
        thresholds: &Thresholds,
        devices: &Devices,
        context: &Context,
    ) -> Result<Classifier<'a>, Error> {
        let Classifier { query, params, nodes, .. } = Classifier::new(database, thresholds);
        if devices.gpus.devices.is_empty() {
            return Ok(Classifier { database, query, params, nodes });
        }
        match query.on_gpus_in_rounds(&devices.gpus) {
            Ok(query) => Ok(Classifier { database, query, params, nodes }),
            Err(error @ Error::GpuMemory(_)) if devices.auto => {
                context.progress.note(&format!("computing on the CPU: {error}"));
                Ok(Classifier::new(database, thresholds))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns notes on the GPUs, if there are any, and on the work that did not fit into their memory in all runs so
    /// far.
    pub fn gpu_notes(&self) -> Option<GpuNotes> {
        self.query.gpu_notes()
    }

    /// Classifies the reads of `segments`, one segment after the other, and writes the requested `outputs` in the
    /// order of the reads.
    ///
    /// The output depends only on the database, the configuration and the reads. The thresholds must have the
    /// lowest rank, number of candidates, insert and pooling for which the database was prepared.
    ///
    /// The devices were chosen when the database was prepared; those of `context` are ignored. The memory limit
    /// includes the parts of the database that are queried together. Without a limit, it is three quarters of the
    /// memory that was free when `context` were made, or more if the whole database needs more and it was free; a
    /// database that is in memory already is not counted then. If the database does not fit, its parts take turns,
    /// as on devices, once more with `database_report`; with `report_minimizer_data`, with a confidence or a `min_fraction`, with segments, or with all hits of each read, it has
    /// to fit. A record longer than the memory allows is an error.
    ///
    /// # Errors
    /// If `config` or `context` is out of range, or there is too little memory; if partial results are wanted
    /// from a database without a file, or with `cov_percentile`; if reading or writing fails; if mates are out of
    /// step; if a device fails; if cancelled.
    pub fn run(
        &self,
        config: &RunConfig,
        segments: &[ReadInput],
        outputs: &mut Outputs<'_>,
        context: &Context,
    ) -> Result<Outcome<'a>, Error> {
        let thresholds = self.check(config, context, outputs)?;
        let wants = Wants::of(outputs, config.kraken2.share.is_some())?;
        let context = &wants.context(context);
        let (progress, cancel) = (&*context.progress, &context.cancel);
        self.database.warn(&context.warnings);
        let on_devices = self.query.devices().is_some();
        let plan = Plan::new(self.database, (config, wants.segments), context, on_devices)?;
        let clock = Clock::default();
        let before = self.query.gpu_notes();
        self.database.check(context.threads, cancel)?;
        if !on_devices && plan.is_one_pass() {
            let reads = segments.iter().flat_map(ReadInput::inputs);
            self.database.prepare_for_random_accesses(merganser_io::text_bytes(reads), context);
        }
        let again = wants.segments
            || thresholds.confidence > 0.0
            || config.least_fraction().is_some()
            || config.kraken2.database_report;
        if config.kraken2.report_minimizer_data || again || !on_devices {
            self.database.fetch()?;
        }
        let by_database = by_database(self.database, config)?;
        let counts_features = config.kraken2.report_minimizer_data;
        let run = RunContext {
            classifier: self,
            config,
            filter: config.filter(),
            thresholds,
            context,
            plan,
            lines: LineWriter::new(self.database, &self.nodes, config, &thresholds),
            wants,
            features: counts_features.then(|| FeatureCounter::new(self.database)),
            references: config.references.then(|| ReferenceHits::new(self.database)),
            total: Mutex::default(),
            lines_sum: Mutex::default(),
            clock: &clock,
            cancel,
        };
        if let Some(lines) = &mut outputs.lines
            && config.kraken2.share.as_ref().is_none_or(ReadShare::is_first)
        {
            let head = run.lines.head(&thresholds);
            lines.write_all(&head)?;
            lock(&run.lines_sum).add(&head);
        }
        if let Some(segments) = &mut outputs.segments
            && config.kraken2.share.as_ref().is_none_or(ReadShare::is_first)
        {
            segments.write_all(SEGMENTS_HEADING)?;
        }
        match config.cov_percentile {
            0 if self.query.rounds().is_none() && run.plan.is_one_pass() => {
                run.in_one_pass(segments, outputs, progress)
            }
            per_mille => run.in_two_passes(per_mille, segments, outputs, progress),
        }?;
        let mut outcome = into_inner(run.total);
        outcome.by_database = by_database;
        outcome.by_database.add(&mut outcome.by_set);
        outcome.features = run.features.as_ref().map(FeatureCounter::counts);
        if let Some(output) = &mut outputs.partial {
            let features = run.features.as_ref().zip(outcome.features.as_ref());
            let written = WrittenShard::of(
                config.kraken2.share.as_ref().map(ReadShare::job_shard),
                into_inner(run.lines_sum),
            );
            let found = (&outcome, features);
            partial::write(self.database, (config, &thresholds), found, written, cancel, output)?;
        }
        // The results are valid only if the database has not changed meanwhile.
        self.database.check(context.threads, cancel)?;
        outcome.references = run.references;
        clock.tell(&mut outcome.stages);
        if let Some((after, before)) = self.query.gpu_notes().zip(before) {
            outcome.gpu_times = Some(after.times.since(&before.times));
            outcome.devices = after.devices;
        }
        outcome.peak_memory = peak_rss();
        Ok(outcome)
    }

    /// Determines how [`run`](Self::run) would classify, without reading: on which devices, in how many rounds, and with how
    /// much memory. `segments` says whether segments of reads are classified.
    ///
    /// # Errors
    /// If `config` or `context` is out of range, or there is too little memory.
    pub fn plan(
        &self,
        config: &RunConfig,
        segments: bool,
        context: &Context,
    ) -> Result<JobPlan, Error> {
        config.validate()?;
        context.validate()?;
        let notes = self.query.gpu_notes();
        let devices = notes.map_or_else(Vec::new, |notes| {
            notes.devices.iter().map(|device| device.ordinal).collect()
        });
        let plan = Plan::new(self.database, (config, segments), context, !devices.is_empty())?;
        let found = JobPlan::on(devices).with_memory(plan.needed);
        Ok(match plan.rounds.len() {
            1 => found,
            rounds => found.with_note(format!(
                "the parts of the database do not fit into memory together: {rounds} rounds"
            )),
        })
    }

    /// Checks the ranges, that the database was prepared for these thresholds, and that partial results are
    /// possible if they are wanted. Returns the thresholds.
    fn check(
        &self,
        config: &RunConfig,
        context: &Context,
        outputs: &Outputs<'_>,
    ) -> Result<Thresholds, Error> {
        config.validate()?;
        context.validate()?;
        let thresholds = config.thresholds(self.database.params())?;
        if thresholds.query_params() != self.params {
            return Err(Error::Config(ConfigError::new(
                "the database was prepared for another `lowest`, `max_cand`, `insert` or `near`",
            )));
        }
        if outputs.segments.is_some() && config.cov_percentile > 0 {
            return Err(Error::Config(ConfigError::new(
                "segments are classified with all sequences, and `cov_percentile` ignores some",
            )));
        }
        if outputs.partial.is_some() {
            partial::check(self.database, config)?;
        }
        Ok(thresholds)
    }
}

/// Returns empty counts of the reads by database, if they are wanted.
fn by_database(database: &Database, config: &RunConfig) -> Result<DatabaseReads, Error> {
    match config.kraken2.database_report {
        true => Ok(DatabaseReads::new(database.member_names())?),
        false => Ok(DatabaseReads::default()),
    }
}

/// Classifies reads and writes the files of `outputs`, which appear at the end, in the order of the reads. The bytes
/// depend only on the database, the configuration and the reads.
///
/// Runs on the devices that `context` selects. For several runs with one database, prepare a [`Classifier`].
///
/// # Errors
/// Fails as [`Classifier::on`] and [`Classifier::run`] do; if a file cannot be created.
pub fn run<'a>(
    config: &RunConfig,
    database: &'a Database,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    outputs: &OutputPaths,
    context: &Context,
) -> Result<Outcome<'a>, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let mut files = OutputFiles::create(outputs, &reads, context)?;
    let outcome = run_with(config, database, &reads, &mut files.streams(), context)?;
    let options = ReportOptions { zero_counts: false, features: outcome.features.as_ref() };
    let tree = database.taxonomy();
    files.commit(context, |output| outcome.by_genome.write_kraken(tree, options, output))?;
    Ok(outcome)
}

/// Classifies reads like [`run()`], to any writers: [`Devices::choose`], [`Classifier::on`] and [`Classifier::run`] in
/// one.
///
/// # Errors
/// As those functions.
pub fn run_with<'a>(
    config: &RunConfig,
    database: &'a Database,
    segments: &[ReadInput],
    outputs: &mut Outputs<'_>,
    context: &Context,
) -> Result<Outcome<'a>, Error> {
    config.validate()?;
    let thresholds = config.thresholds(database.params())?;
    let reads = segments.iter().flat_map(ReadInput::inputs);
    let devices = Devices::choose(context, Some(database.bytes()), reads)?;
    let classifier = Classifier::on(database, &thresholds, &devices, context)?;
    classifier.run(config, segments, outputs, context)
}
