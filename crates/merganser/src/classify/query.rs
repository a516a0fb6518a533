//! A query: the reads, options and outputs of one sample.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::{RecordOptions, put_files};
use merganser_classify::Thresholds;
use merganser_classify::{Columns, LineFormat, Outcome, RunConfig};
use merganser_io::{Input, OutputSet, ReadInput, Records};
use merganser_kraken2::ReadShare;
use merganser_report::data::Data;
use merganser_run::{Summary, thousands};
use merganser_taxreport::output::{ReadPaths, ReadStyle};

use super::kraken2::{self, Sample};
use super::outputs::{Closed, Files, read_paths};
use super::reports::Reports;
use super::{Environment, prefix_of, summary};
use crate::args::classify::QueryArgs;
use crate::common::{tell_skipped, tell_time, text_of, unit, write_summary};
use crate::console::Console;
use crate::database::AnyDatabase;
use crate::files::RunFiles;
use crate::holds::{note_interleaved, refuse_other_reads};
use crate::pages::{Pages, frame, inputs_of, parameter};
use crate::samples::journal::Job;
use crate::samples::run::files_read;
use crate::{devices, failure};

/// The reads to classify, with options and outputs.
pub(super) struct Query<'a> {
    args: &'a QueryArgs,
    /// The name of the sample, in a sample sheet.
    sample: Option<&'a OsStr>,
    segments: Vec<ReadInput>,
}

/// The result of a sample, for summaries.
pub(super) struct Classified {
    pub(super) summary: Summary,
}

impl<'a> Query<'a> {
    /// Makes a query of the reads that the arguments name.
    ///
    /// # Errors
    /// If there are no reads, or the numbers of files of first and second mates differ.
    pub(super) fn new(args: &'a QueryArgs, sample: Option<&'a OsStr>) -> Result<Query<'a>> {
        Ok(Query { args, sample, segments: args.reads.segments(None)? })
    }

    /// Makes a query of a sample in a sheet.
    pub(super) fn of_sample(
        args: &'a QueryArgs,
        sample: &'a OsStr,
        segments: Vec<ReadInput>,
    ) -> Query<'a> {
        Query { args, sample: Some(sample), segments }
    }

    /// Warns of mates that are given as single reads.
    pub(super) fn hint_at_mates(&self, console: &Console) {
        self.args.reads.hint_at_mates(&self.segments, "classified", console);
    }

    /// Returns the reads.
    pub(super) fn segments(&self) -> &[ReadInput] {
        &self.segments
    }

    /// Returns all files of reads.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.segments.iter().flat_map(ReadInput::inputs)
    }

    /// Adds the files of reads, their lists, and all outputs to `files`.
    pub(super) fn declare(&self, files: RunFiles) -> RunFiles {
        let files = files
            .lists(self.args.reads.lists())
            .inputs(self.inputs())
            .read(&self.args.reports.bracken);
        files.write_each(Files::outputs(self.args, &self.segments, self.sample))
    }

    /// Returns the sample and everything else that its outputs depend on, except the database, for the journal of
    /// `--resume`.
    pub(super) fn job(&self, environment: &Environment<'_>) -> Job {
        Job {
            sample: self.sample.map_or_else(String::new, text_of),
            options: format!("{:08x}", self.options_sum(environment)),
            files: self.files_read(),
            outputs: self.outputs(),
        }
    }

    /// Returns a checksum of the version, the options and the kinds of reads.
    fn options_sum(&self, environment: &Environment<'_>) -> u32 {
        let QueryArgs { lines, reports, pages, config, reads, .. } = self.args;
        let options = (lines, reports, pages, config, reads.pairs.any_names);
        let kinds: Vec<&str> = self.segments.iter().map(kind).collect();
        // Pages and the headers of alignments show the names of the inputs.
        let are_shown = Pages::has_own(pages) || matches!(self.are_alignments(), Ok(true));
        let names = are_shown.then(|| {
            (&environment.name, self.inputs().map(ToString::to_string).collect::<Vec<_>>())
        });
        let of = (self.sample, options, reads.inputs.reference.is_some(), kinds, names);
        crc32fast::hash(format!("{} {of:?}", env!("CARGO_PKG_VERSION")).as_bytes())
    }

    /// Returns the files that are read in addition to the database.
    fn files_read(&self) -> Vec<PathBuf> {
        let own = files_read(&self.segments).into_iter();
        own.chain(self.args.reports.bracken.clone()).collect()
    }

    pub(super) fn outputs(&self) -> Vec<PathBuf> {
        let outputs = Files::outputs(self.args, &self.segments, self.sample);
        outputs.into_iter().map(|(_, path)| path).collect()
    }

    /// Checks, before any work, that the inputs exist and that the outputs are compatible with one another and
    /// with `files`. Returns the set in which the outputs are to be created.
    ///
    /// # Errors
    /// Names the input or output that fails the check.
    pub(super) fn check(&self, files: RunFiles) -> Result<OutputSet> {
        self.check_alone()?;
        let outputs = self.declare(files).check()?;
        self.check_inputs()?;
        Ok(outputs)
    }

    /// Checks everything that can be checked without files.
    ///
    /// # Errors
    /// Names the options that cannot be used together.
    pub(super) fn check_alone(&self) -> Result<()> {
        check_format(self.args)?;
        Reports::check(&self.args.reports, Pages::is_wanted(&self.args.pages))?;
        self.are_alignments()?;
        let lines = &self.args.lines;
        if lines.output_format.is_some()
            && lines.classified_out.is_none()
            && lines.unclassified_out.is_none()
        {
            return failure::usage(
                "--output-format is that of --classified-out and --unclassified-out: give one of them",
            );
        }
        let paths = self.outputs();
        if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return failure::usage(
                "only one output can be stdout, the default of -o (--no-map writes no lines)",
            );
        }
        if self.args.lines.segments_out.is_some() {
            let given = [
                (self.args.given.has("cov_percentile"), "--cov-percentile"),
                (self.args.config.kraken2.quick, "--quick"),
            ];
            failure::refuse_given(&given, |option| {
                format!(
                    "{option} cannot be used with --segments-out, which needs all hits of a read"
                )
            })?;
        }
        if self.args.lines.partial.is_some() && self.args.given.has("cov_percentile") {
            return failure::usage(
                "--cov-percentile needs the hits of all reads, and --partial is for runs with only some \
                 of them",
            );
        }
        Ok(())
    }

    /// Whether reads are written as alignments.
    fn are_alignments(&self) -> Result<bool> {
        let format = self.args.lines.output_format;
        let style = ReadStyle { format, ..ReadStyle::default() };
        let paths = read_paths(&self.args.lines, &self.segments, self.sample);
        Ok(style.are_alignments(&paths)?)
    }

    /// Checks that the inputs exist, and that the names of outputs for reads fit the formats of the inputs.
    ///
    /// # Errors
    /// Names the input or output that fails the check.
    pub(super) fn check_inputs(&self) -> Result<()> {
        Records::open(&self.segments, RecordOptions::default())?;
        let inputs: Vec<Input> = self.inputs().cloned().collect();
        refuse_other_reads(&self.read_outputs().concat(), &inputs)
    }

    /// Returns the files for the classified and for the unclassified reads.
    fn read_outputs(&self) -> [Vec<PathBuf>; 2] {
        read_paths(&self.args.lines, &self.segments, self.sample).map(|paths| {
            let paths = paths.iter().flat_map(ReadPaths::all);
            paths.map(Path::to_owned).collect()
        })
    }

    /// Returns how reads are written. Headers of alignments name the command that decides their tags.
    fn style(&self, environment: &Environment<'_>) -> ReadStyle {
        let mut command = "merganser classify".to_owned();
        command += &self.args.given.of::<RunConfig>();
        if self.args.reads.pairs.any_names {
            command += " --any-names";
        }
        if let Some(shard) = environment.shard {
            command += &format!(" --shard {shard}");
        }
        put_files(Some(Path::new(&environment.name)), &self.segments, &mut command);
        ReadStyle { format: self.args.lines.output_format, command }
    }

    /// Prints a note if mates are interleaved in one file.
    pub(super) fn note_interleaved(&self, console: &Console) {
        let is_text = matches!(self.are_alignments(), Ok(false));
        let are_pairs = is_text && self.segments.iter().any(ReadInput::is_paired);
        for paths in self.read_outputs() {
            note_interleaved(&paths, are_pairs, "a # in its name makes two files", console);
        }
    }

    /// Classifies the reads, writes all results and reports; then all of `outputs` appear together.
    ///
    /// # Errors
    /// Returns the errors of [`Classifier::run`](merganser_classify::Classifier::run) and of writing; then none
    /// of the outputs appears.
    pub(super) fn run(
        &self,
        environment: &Environment<'_>,
        outputs: &OutputSet,
        started: Instant,
    ) -> Result<Classified> {
        let database = match environment.database {
            AnyDatabase::Own(database) => database,
            AnyDatabase::Kraken2(database) => {
                let (args, segments) = (self.args, &self.segments[..]);
                kraken2::check(args)?;
                let files = self.files(environment, outputs)?;
                let sample = Sample { args, name: self.sample, segments, files, started };
                return Ok(Classified { summary: sample.run(environment, database, outputs)? });
            }
        };
        let args = self.args;
        kraken2::check_own(args)?;
        let thresholds = args.config.thresholds(database.params())?;
        let share = environment.share(&self.segments, environment.shard, false)?;
        let config = config(args, share);
        let mut files = self.files(environment, outputs)?;
        let before = Instant::now();
        let classifier = environment.classifier(database, &thresholds)?;
        let prepared = before.elapsed();
        let before = Instant::now();
        let mut streams = files.streams();
        let context = &environment.context;
        let outcome = classifier.run(&config, &self.segments, &mut streams, context)?;
        let queried = before.elapsed();
        let page = self.page(environment, &thresholds);
        let (tree, targets) = (database.taxonomy(), database.targets());
        let Closed { json, picture } = files.finish(&outcome, tree, targets, page, context)?;
        let mut summary = summary::of_run((&config, &thresholds), context.threads, &outcome);
        let gpus: Vec<u32> = outcome.devices.iter().map(|gpu| gpu.ordinal).collect();
        devices::describe(&gpus, context.gpu_memory, &mut summary);
        if let Some(notes) = classifier.gpu_notes() {
            summary.set("results", "rounds", notes.rounds);
            summary.set("results", "parts_on_host", notes.parts_on_host);
            summary.set("results", "reads_on_host", notes.reads_on_host);
        }
        devices::clocks(started, &mut summary);
        if let Some(shard) = environment.shard {
            summary.set("parameters", "shard", shard.to_string());
        }
        summary.stage("prepare", prepared);
        summary.stage("query", queried);
        if started == environment.started {
            summary.stage("open", environment.opened);
        }
        if let Some(output) = json {
            write_summary(&mut summary, output)?;
        }
        environment.commit(outputs)?;
        if let Some(picture) = picture {
            environment.console.plot(&picture);
        }
        self.tell(environment, &thresholds, &outcome, started);
        Ok(Classified { summary })
    }

    /// Creates all outputs.
    fn files(&self, environment: &Environment<'_>, outputs: &OutputSet) -> Result<Files> {
        let style = self.style(environment);
        let memory = environment.context.budget();
        Files::create(self.args, &self.segments, self.sample, &style, (outputs, memory))
    }

    /// Returns the frame of a page's data: everything except the results.
    fn page(&self, environment: &Environment<'_>, thresholds: &Thresholds) -> Data {
        let mut data = frame("classify", &self.args.pages, self.sample, inputs_of(&self.segments));
        data.parameters = vec![
            parameter("database", &environment.name),
            parameter("hitmin", thresholds.hitmin),
            parameter("hitmin-contested", thresholds.hitmin_contested),
            parameter("hitdiff", f64::from(thresholds.hitdiff) / 10.0),
            parameter("near", thresholds.near),
            parameter("confidence", thresholds.confidence),
            parameter("lowest", thresholds.lowest.name()),
            parameter("highest", thresholds.highest.name()),
        ];
        let fraction = self.args.config.min_fraction;
        data.parameters.extend(fraction.map(|fraction| parameter("min-fraction", fraction)));
        data
    }

    fn tell(
        &self,
        environment: &Environment<'_>,
        thresholds: &Thresholds,
        outcome: &Outcome<'_>,
        started: Instant,
    ) {
        let name = prefix_of(self.sample);
        let size = (outcome.bases, outcome.records);
        environment.tell_what(&name, &self.segments, size);
        if outcome.passed_over > 0 {
            environment.console.info(format_args!(
                "{name}{} {} were skipped because of their length",
                outcome.passed_over,
                unit(&self.segments)
            ));
        }
        tell_skipped(outcome.skipped_alignments, environment.console);
        if outcome.low_coverage > 0 {
            environment.console.info(format_args!(
                "{name}{} sequences were left out because of their coverage",
                outcome.low_coverage
            ));
        }
        let also = |text: &str, value: f64| match value {
            0.0 => String::new(),
            value => text.replace('#', &value.to_string()),
        };
        let per_kb = also(" or # per 1,000 bases", thresholds.hitmin_per_kb.into());
        let contested = also(" (# more if contested)", thresholds.hitmin_contested.into());
        let near = also(", near #", thresholds.near.into());
        let confidence = also(", confidence #", thresholds.confidence);
        let fraction = also(", min-fraction #", self.args.config.min_fraction.unwrap_or(0.0));
        let percent = 100.0 * outcome.classified as f64 / outcome.records.max(1) as f64;
        environment.console.info(format_args!(
            "{name}classified {} of {} {} ({percent:.2} %) in {:.1} s; hitmin {}{}{contested}, hitdiff \
             {}{near}{confidence}{fraction}, lowest {}, highest {}, max-cand {}",
            thousands(outcome.classified),
            thousands(outcome.records),
            unit(&self.segments),
            started.elapsed().as_secs_f64(),
            thresholds.hitmin,
            per_kb,
            f64::from(thresholds.hitdiff) / 10.0,
            thresholds.lowest.name(),
            thresholds.highest.name(),
            thresholds.max_cand
        ));
        let (threads, peak) = (environment.context.threads, outcome.peak_memory);
        tell_time(started, threads, peak, environment.console);
    }
}

/// Returns the configuration of a run with a database of ours.
pub(super) fn config(args: &QueryArgs, share: Option<ReadShare>) -> RunConfig {
    RunConfig {
        kraken2: kraken2::config(args, share),
        references: args.lines.hits_per_ref.is_some(),
        ..args.config.clone()
    }
}

fn check_format(args: &QueryArgs) -> Result<()> {
    let (refused, format) = match args.config.format {
        LineFormat::Kraken => (args.given.first_of::<Columns>(&[]), "metacache"),
        LineFormat::MetaCache => {
            (args.config.kraken2.use_names.then(|| "--use-names".to_owned()), "kraken")
        }
    };
    match refused {
        Some(option) => failure::usage(format!("{option} requires --format {format}")),
        None => Ok(()),
    }
}

/// Returns a letter for the kind of reads.
fn kind(segment: &ReadInput) -> &'static str {
    match segment {
        ReadInput::Single(_) => "s",
        ReadInput::Interleaved(_) => "i",
        ReadInput::Pair(..) => "p",
    }
}
