//! One sample: its reads, options and outputs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::RecordOptions;
use merganser_classify::Thresholds;
use merganser_classify::run::{Columns, LineFormat, Outcome, ReadFilter, RunConfig, Taxids};
use merganser_io::{Input, OutputSet, Records, Segment};
use merganser_report::data::Data;
use merganser_run::Summary;

use super::kraken2::{self, Sample};
use super::outputs::{Closed, Files, ReadPaths, of_sample};
use super::resume::Job;
use super::{Environment, summary, thresholds};
use crate::args::classify::{FormatName, LineArgs, QueryArgs, TableArgs};
use crate::common::{pairs, refuse_stdin_twice, tell_skipped, text_of, write_summary};
use crate::console::Console;
use crate::database::AnyDatabase;
use crate::files::RunFiles;
use crate::holds::{note_interleaved, refuse_other_reads};
use crate::pages::{frame, inputs_of, parameter};
use crate::progress::Bar;
use crate::{devices, failure};

/// What is to be classified, and how.
pub(super) struct Query<'a> {
    args: &'a QueryArgs,
    /// In a sample sheet.
    sample: Option<&'a OsStr>,
    segments: Vec<Segment>,
}

/// A classified sample, as summaries need it.
pub(super) struct Classified {
    pub(super) summary: Summary,
}

impl<'a> Query<'a> {
    /// The reads that the arguments name.
    ///
    /// # Errors
    /// If there are none, or mates have other numbers of files.
    pub(super) fn new(args: &'a QueryArgs, sample: Option<&'a OsStr>) -> Result<Query<'a>> {
        Ok(Query { args, sample, segments: segments(args)? })
    }

    /// The reads of a sample in a sheet.
    pub(super) fn of_sample(
        args: &'a QueryArgs,
        sample: &'a OsStr,
        segments: Vec<Segment>,
    ) -> Query<'a> {
        Query { args, sample: Some(sample), segments }
    }

    /// The files of single reads.
    pub(super) fn singles(&self) -> impl Iterator<Item = &Input> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Single(input) => Some(input),
            _ => None,
        })
    }

    /// The files of reads.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.segments.iter().flat_map(Segment::inputs)
    }

    /// The files of reads and their lists, and all outputs.
    pub(super) fn declare(&self, files: RunFiles) -> RunFiles {
        let QueryArgs { reads, mates1, mates2, singles, .. } = self.args;
        let lists = [reads, mates1, mates2, singles].into_iter().flatten();
        let files = files.lists(lists).inputs(self.inputs()).read(&self.args.reports.bracken);
        files.write_each(Files::outputs(self.args, &self.segments, self.sample))
    }

    /// Returns the sample and what its outputs depend on besides the database, for the journal of `--resume`.
    pub(super) fn job(&self, environment: &Environment<'_>) -> Job {
        Job {
            sample: self.sample.map_or_else(String::new, text_of),
            options: format!("{:08x}", self.options_sum(environment)),
            files: self.files_read(),
            outputs: self.outputs(),
        }
    }

    /// Returns a checksum of the version, the options and what kinds of reads there are.
    fn options_sum(&self, environment: &Environment<'_>) -> u32 {
        let QueryArgs { lines, reports, pages, tables, filter, decision, pairs, inputs, .. } =
            self.args;
        let options = (lines, reports, pages, tables, filter, decision, pairs.any_names);
        let kinds: Vec<&str> = self.segments.iter().map(kind).collect();
        // Pages show names.
        let is_shown = [&pages.report_html, &pages.report_data, &pages.multiqc];
        let names = is_shown.iter().any(|page| page.is_some()).then(|| {
            (&environment.name, self.inputs().map(ToString::to_string).collect::<Vec<_>>())
        });
        let of = (self.sample, options, inputs.reference.is_some(), kinds, names);
        crc32fast::hash(format!("{} {of:?}", env!("CARGO_PKG_VERSION")).as_bytes())
    }

    /// Returns the files that are read besides the database.
    fn files_read(&self) -> Vec<PathBuf> {
        let reads = self.inputs().map(|input| input.path().unwrap_or(Path::new("/dev/stdin")));
        // All inputs have the same reference; its index may be missing.
        let reference = self.inputs().next().into_iter().flat_map(|input| input.files().skip(1));
        let reference = reference.filter(|file| file.exists());
        let own = reads.map(Path::to_owned).chain(reference);
        own.chain(self.args.reports.bracken.clone()).collect()
    }

    pub(super) fn outputs(&self) -> Vec<PathBuf> {
        let outputs = Files::outputs(self.args, &self.segments, self.sample);
        outputs.into_iter().map(|(_, path)| path).collect()
    }

    /// Sees to it, before any work, that inputs are there and outputs go together, with one another
    /// and with `files`; gives the set that these are to be made in.
    ///
    /// # Errors
    /// What does not.
    pub(super) fn check(&self, files: RunFiles) -> Result<OutputSet> {
        self.check_alone()?;
        let outputs = self.declare(files).check()?;
        self.check_inputs()?;
        Ok(outputs)
    }

    /// What can be seen without files.
    ///
    /// # Errors
    /// What does not go together.
    pub(super) fn check_alone(&self) -> Result<()> {
        check_format(&self.args.lines, &self.args.tables)?;
        let paths = self.outputs();
        if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return failure::usage(
                "only one output can be stdout, which -o is without a name (--no-map: no lines)",
            );
        }
        if self.args.lines.partial.is_some() && self.args.decision.cov_percentile.is_some() {
            return failure::usage(
                "--cov-percentile leaves out sequences by what all reads hit, and --partial is of some \
                 of them",
            );
        }
        Ok(())
    }

    /// Checks that inputs are there, and that outputs of reads have names that fit them.
    ///
    /// # Errors
    /// Which one is not, or does not.
    pub(super) fn check_inputs(&self) -> Result<()> {
        Records::open(&self.segments, RecordOptions::default())?;
        let inputs: Vec<Input> = self.inputs().cloned().collect();
        refuse_other_reads(&self.read_outputs().concat(), &inputs)
    }

    /// The files that reads are written back to, those with a taxon and those without.
    fn read_outputs(&self) -> [Vec<PathBuf>; 2] {
        let lines = &self.args.lines;
        [&lines.classified_out, &lines.unclassified_out].map(|path| {
            let path = path.as_ref().map(|path| of_sample(path, self.sample));
            path.map_or_else(Vec::new, |path| ReadPaths::new(&path, &self.segments).all())
        })
    }

    /// Notes that mates go to one file.
    pub(super) fn note_interleaved(&self, console: &Console) {
        let are_pairs = self.segments.iter().any(Segment::is_paired);
        for paths in self.read_outputs() {
            note_interleaved(&paths, are_pairs, "a # in its name makes two files", console);
        }
    }

    /// Classifies, writes and reports; all of `outputs` appear.
    ///
    /// # Errors
    /// As [`Classifier::run`](merganser_classify::run::Classifier::run) and writing; then none of the outputs appears.
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
                let files = self.files(outputs)?;
                let sample = Sample { args, name: self.sample, segments, files, started };
                return Ok(Classified { summary: sample.run(environment, database, outputs)? });
            }
        };
        let args = self.args;
        kraken2::check_own(args)?;
        let of = thresholds(&args.decision.verdict, database)?;
        let thresholds = Thresholds {
            insert: args.decision.insert.map_or(0, u64::from),
            near: args.decision.near.map_or(of.near, u32::from),
            confidence: args.decision.kraken.confidence.unwrap_or(0.0),
            ..of
        };
        let share = environment.share(&self.segments, environment.shard, false)?;
        let config = self.config(thresholds).share(share);
        let mut files = self.files(outputs)?;
        let before = Instant::now();
        let classifier = environment.classifier(database, &thresholds)?;
        let prepared = before.elapsed();
        let before = Instant::now();
        let bar = Bar::new(environment.console);
        let mut streams = files.streams();
        let Environment { resources, cancel, .. } = environment;
        let done = classifier.run(&config, resources, &self.segments, &mut streams, &bar, cancel);
        drop(bar);
        let outcome = done?;
        let queried = before.elapsed();
        let page = self.page(environment, &thresholds);
        let (tree, targets) = (database.taxonomy(), database.targets());
        let Closed { json, picture } = files.finish(&outcome, tree, targets, page, cancel)?;
        let mut summary = summary::of_run(&config, resources.threads, &outcome);
        let gpus: Vec<u32> = outcome.devices.iter().map(|gpu| gpu.ordinal).collect();
        devices::describe(&gpus, resources.gpu_memory, &mut summary);
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
            environment.console.text(picture.trim_end());
        }
        self.tell(environment, &thresholds, &outcome, started);
        Ok(Classified { summary })
    }

    /// Begins all outputs.
    fn files(&self, outputs: &OutputSet) -> Result<Files> {
        Files::create(self.args, &self.segments, self.sample, outputs)
    }

    /// The frame of what a page says.
    fn page(&self, environment: &Environment<'_>, thresholds: &Thresholds) -> Data {
        let mut data = frame("classify", &self.args.pages, self.sample, inputs_of(&self.segments));
        data.parameters = vec![
            parameter("database", &environment.name),
            parameter("hitmin", thresholds.min_hits),
            parameter("hitmin-contested", thresholds.contested),
            parameter("hitdiff", f64::from(thresholds.hit_diff) / 10.0),
            parameter("near", thresholds.near),
            parameter("confidence", thresholds.confidence),
            parameter("lowest", thresholds.lowest.name()),
            parameter("highest", thresholds.highest.name()),
        ];
        data
    }

    fn config(&self, thresholds: Thresholds) -> RunConfig {
        let QueryArgs { lines, tables, filter, decision, .. } = self.args;
        let filter = ReadFilter {
            min_bases: filter.min_read_len.unwrap_or(0),
            max_bases: filter.max_read_len.unwrap_or(usize::MAX),
            min_quality: filter.min_qual,
            quality_offset: filter.quality_offset,
        };
        let format = match lines.format {
            FormatName::Kraken => LineFormat::Kraken { names: lines.use_names },
            FormatName::Metacache => LineFormat::MetaCache(columns(tables)),
        };
        RunConfig::new(thresholds)
            .filter(filter)
            .format(format)
            .classified_only(lines.mapped_only)
            .any_names(self.args.pairs.any_names)
            .features(lines.report_minimizer_data)
            .references(lines.hits_per_ref.is_some())
            .coverage_per_mille(decision.cov_percentile.unwrap_or(0))
    }

    fn tell(
        &self,
        environment: &Environment<'_>,
        thresholds: &Thresholds,
        outcome: &Outcome<'_>,
        started: Instant,
    ) {
        let name = self.sample.map_or_else(String::new, |sample| format!("{}: ", sample.display()));
        if outcome.records == 0 {
            environment.console.warn(format_args!("{name}there are no reads in the input"));
        }
        if outcome.passed_over > 0 {
            environment.console.info(format_args!(
                "{name}{} reads took no part for their length",
                outcome.passed_over
            ));
        }
        tell_skipped(outcome.skipped_alignments, environment.console);
        if outcome.low_coverage > 0 {
            environment.console.info(format_args!(
                "{name}{} sequences were left out for their coverage",
                outcome.low_coverage
            ));
        }
        let also = |text: &str, value: f64| match value {
            0.0 => String::new(),
            value => text.replace('#', &value.to_string()),
        };
        let per_kb = also(" or # per 1,000 bases", thresholds.min_hits_per_kb.into());
        let contested = also(" (# more if contested)", thresholds.contested.into());
        let near = also(", near #", thresholds.near.into());
        let confidence = also(", confidence #", thresholds.confidence);
        let percent = 100.0 * outcome.classified as f64 / outcome.records.max(1) as f64;
        environment.console.info(format_args!(
            "{name}classified {} of {} reads ({percent:.2} %) in {:.1} s; hitmin {}{}{contested}, hitdiff \
             {}{near}{confidence}, lowest {}, highest {}, max-cand {}",
            outcome.classified,
            outcome.records,
            started.elapsed().as_secs_f64(),
            thresholds.min_hits,
            per_kb,
            f64::from(thresholds.hit_diff) / 10.0,
            thresholds.lowest.name(),
            thresholds.highest.name(),
            thresholds.max_candidates
        ));
    }
}

fn check_format(lines: &LineArgs, tables: &TableArgs) -> Result<()> {
    let TableArgs { tophits, allhits, locations, lineage, queryids, taxids, .. } = *tables;
    let TableArgs { taxids_only, omit_ranks, separate_cols, .. } = *tables;
    let options = [
        (tophits, "--tophits"),
        (allhits, "--allhits"),
        (locations, "--locations"),
        (lineage, "--lineage"),
        (queryids, "--queryids"),
        (taxids, "--taxids"),
        (taxids_only, "--taxids-only"),
        (omit_ranks, "--omit-ranks"),
        (separate_cols, "--separate-cols"),
        (tables.separator.is_some(), "--separator"),
        (tables.comment.is_some(), "--comment"),
    ];
    match lines.format {
        FormatName::Kraken => failure::refuse_given(&options, |option| {
            format!("{option} goes with --format metacache")
        }),
        FormatName::Metacache => {
            failure::refuse_given(&[(lines.use_names, "--use-names")], |option| {
                format!("{option} goes with --format kraken")
            })
        }
    }
}

fn columns(args: &TableArgs) -> Columns {
    let of = Columns::default();
    Columns {
        query_ids: args.queryids,
        all_hits: args.allhits,
        top_hits: args.tophits,
        locations: args.locations,
        lineage: args.lineage,
        taxids: match (args.taxids_only, args.taxids) {
            (true, _) => Taxids::Only,
            (_, true) => Taxids::InParentheses,
            _ => Taxids::None,
        },
        omit_ranks: args.omit_ranks,
        separate: args.separate_cols,
        separator: args.separator.as_ref().map_or(of.separator, |text| text.replace("\\t", "\t")),
        comment: args.comment.clone().unwrap_or(of.comment),
    }
}

/// Returns the letter of a kind of reads.
fn kind(segment: &Segment) -> &'static str {
    match segment {
        Segment::Single(_) => "s",
        Segment::Interleaved(_) => "i",
        Segment::Pair(..) => "p",
    }
}

/// Pairs, then single reads, then READS.
fn segments(args: &QueryArgs) -> Result<Vec<Segment>> {
    let [first, second, singles, reads] = [&args.mates1, &args.mates2, &args.singles, &args.reads]
        .map(|paths| args.inputs.expand(paths));
    let (first, second, singles, reads) = (first?, second?, singles?, reads?);
    let kind = if args.interleaved { Segment::Interleaved } else { Segment::Single };
    let mut segments = pairs(first, second)?;
    segments.extend(singles.into_iter().map(Segment::Single));
    segments.extend(reads.into_iter().map(kind));
    refuse_stdin_twice(segments.iter().flat_map(Segment::inputs))?;
    if segments.is_empty() {
        return failure::usage("give reads: READS, -1 and -2, or -U");
    }
    Ok(segments)
}
