//! The output files of a sample.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use merganser_alignments::ReadFormat;
use merganser_classify::Target;
use merganser_classify::partial::JoinedResults;
use merganser_classify::{Outcome, Outputs};
use merganser_io::{Output, OutputSet, ReadInput, is_read_once};
use merganser_kraken2::{Kraken2Database, Kraken2Outcome, Kraken2ReportOptions};
use merganser_report::data::{Data, Taxa};
use merganser_report::multiqc::Kind;
use merganser_report::text;
use merganser_run::{Cancel, Context};
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::output::{ReadFiles, ReadPaths, ReadStyle};
use merganser_taxreport::report::{Abundance, KrakenReport, ReportOptions, Tally, TaxonBases};

use crate::args::classify::{LineArgs, QueryArgs, ReportArgs};
use crate::common::text_of;
use crate::console;
use crate::failure;
use crate::holds::{FormatChoice, Holds};
use crate::pages::{Pages, inputs_of, taxa};
use crate::progress::width;
use crate::samples::of_sample;

/// The reports that are made from a tally alone.
#[derive(Debug)]
pub(crate) struct Reports {
    report: Option<Output>,
    /// The report of bases.
    of_bases: Option<Output>,
    mpa: Option<Output>,
    krona: Option<Output>,
    abundance: Option<Output>,
    cami: Option<Output>,
    bracken: Option<Bracken>,
    zero_counts: bool,
    /// Whether bases are shown beside reads.
    bases: bool,
    min_reads: u64,
    sample_id: String,
}

impl Reports {
    /// Returns the paths of all files, with `{}` replaced by the sample's name.
    pub(crate) fn paths(args: &ReportArgs, sample: Option<&OsStr>) -> Vec<(Holds, PathBuf)> {
        let all = [&args.report, &args.report_bases, &args.mpa, &args.krona];
        let all = all.into_iter().chain([&args.abundance, &args.cami]);
        let bracken = [&args.bracken_output, &args.bracken_report];
        let all = all.chain(bracken).flatten();
        all.map(|path| (Holds::LINES, of_sample(path, sample))).collect()
    }

    /// Checks that options have outputs that they change; `pages` tells whether there is a page.
    ///
    /// # Errors
    /// Names the option that has none.
    pub(crate) fn check(args: &ReportArgs, pages: bool) -> Result<()> {
        if args.bases && args.abundance.is_none() && args.bracken_output.is_none() && !pages {
            return failure::usage(
                "--bases adds columns to --abundance, --bracken-output and pages: give one of them, or --report-bases",
            );
        }
        if args.min_reads > 0 && args.abundance.is_none() && args.cami.is_none() && !pages {
            return failure::usage(
                "--min-reads changes --abundance, --cami and pages: give one of them, or use `report filter --min-reads` \
                 on a report",
            );
        }
        let of_all_taxa = [&args.report, &args.report_bases, &args.mpa];
        if args.report_zero_counts && of_all_taxa.iter().all(|path| path.is_none()) {
            return failure::usage(
                "--report-zero-counts changes --report, --report-bases and --mpa: give one of them",
            );
        }
        Ok(())
    }

    /// Checks the files that are read for the reports, except those that can be read only once.
    ///
    /// # Errors
    /// If the distribution of Bracken cannot be read or is malformed.
    pub(super) fn check_inputs(args: &ReportArgs) -> Result<()> {
        let is_wanted = |_: &&PathBuf| args.bracken_output.is_some();
        let path = args.bracken.as_ref().filter(is_wanted);
        if let Some(path) = path.filter(|path| !is_read_once(path)) {
            Distribution::read(path)?;
        }
        Ok(())
    }

    /// Creates all files.
    pub(crate) fn create(
        args: &ReportArgs,
        sample: Option<&OsStr>,
        set: &OutputSet,
    ) -> Result<Reports> {
        Ok(Reports {
            report: create(args.report.as_ref(), sample, set)?,
            of_bases: create(args.report_bases.as_ref(), sample, set)?,
            mpa: create(args.mpa.as_ref(), sample, set)?,
            krona: create(args.krona.as_ref(), sample, set)?,
            abundance: create(args.abundance.as_ref(), sample, set)?,
            cami: create(args.cami.as_ref(), sample, set)?,
            bracken: Bracken::create(args, sample, set)?,
            zero_counts: args.report_zero_counts,
            bases: args.bases,
            min_reads: args.min_reads,
            sample_id: args.sample_id.clone().or(sample.map(text_of)).unwrap_or("sample".into()),
        })
    }

    /// Writes all reports; they appear when all outputs are committed.
    pub(crate) fn write(
        &mut self,
        (tally, bases): (&Tally, &TaxonBases),
        outcome: Option<&Outcome<'_>>,
        tree: &Taxonomy,
        targets: &[Target],
        cancel: &Cancel,
    ) -> Result<()> {
        let features = outcome.and_then(|outcome| outcome.features.as_ref());
        let options = ReportOptions { zero_counts: self.zero_counts, features };
        let of_bases = ReportOptions { features: None, ..options };
        let by_genome = outcome.map_or(tally, |outcome| &outcome.by_genome);
        self.write_report(
            cancel,
            |output| by_genome.write_kraken(tree, options, output),
            |output| bases.by_genome.write_kraken(tree, of_bases, output),
        )?;
        self.write_others((tally, Some(&bases.tally)), tree, targets, cancel)
    }

    /// Writes all reports of the results of a Kraken 2 database.
    fn write_kraken2(
        &mut self,
        outcome: &mut Kraken2Outcome,
        database: &Kraken2Database,
        minimizers: bool,
        cancel: &Cancel,
    ) -> Result<()> {
        let tally = outcome.tally(database);
        let options = Kraken2ReportOptions { zero_counts: self.zero_counts, minimizers };
        let of_bases = Kraken2ReportOptions { minimizers: false, ..options };
        let (taxonomy, tree) = (database.taxonomy(), database.tree());
        let bases = self.wants_bases().then(|| outcome.counts.in_bases());
        let bases_by_taxon = bases.as_ref().map(|bases| bases.tally(taxonomy, tree));
        self.write_report(
            cancel,
            |output| outcome.counts.write_report(taxonomy, options, output),
            |output| match &bases {
                Some(bases) => bases.write_report(taxonomy, of_bases, output),
                None => Ok(()),
            },
        )?;
        self.write_others((&tally, bases_by_taxon.as_ref()), tree, &[], cancel)
    }

    /// Writes all reports of the joined results of shards, or of runs over some of the reads.
    pub(super) fn write_joined(&mut self, joined: &JoinedResults, cancel: &Cancel) -> Result<()> {
        let zeros = self.zero_counts;
        let bases = self.wants_bases().then(|| joined.in_bases()).transpose()?;
        self.write_report(
            cancel,
            |output| joined.write_report(zeros, output),
            |output| bases.as_ref().map_or(Ok(()), |bases| bases.write_report(zeros, output)),
        )?;
        let tallies = (joined.tally(), bases.as_ref().map(JoinedResults::tally));
        self.write_others(tallies, joined.tree(), joined.targets(), cancel)
    }

    /// Returns the report of bases that `write` writes, if bases are shown beside reads.
    fn bases_of(
        &self,
        write: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<KrakenReport>> {
        self.bases.then(|| report_of(write)).transpose()
    }

    /// Whether any file has bases.
    fn wants_bases(&self) -> bool {
        self.bases || self.of_bases.is_some()
    }

    /// Writes the Kraken-style reports of reads and of bases, and Bracken's outputs, if they are wanted.
    fn write_report(
        &mut self,
        cancel: &Cancel,
        write: impl Fn(&mut dyn Write) -> io::Result<()>,
        write_bases: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if let Some(output) = &mut self.of_bases {
            write_bases(&mut Heeding { output, cancel })?;
        }
        if let Some(output) = &mut self.report {
            write(&mut Heeding { output, cancel })?;
        }
        if let Some(bracken) = &mut self.bracken {
            let bases = self.bases.then(|| report_of(write_bases)).transpose()?;
            bracken.write(&report_of(write)?, bases.as_ref(), cancel)?;
        }
        Ok(())
    }

    /// Writes all reports except the Kraken-style one.
    fn write_others(
        &mut self,
        (tally, bases): (&Tally, Option<&Tally>),
        tree: &Taxonomy,
        targets: &[Target],
        cancel: &Cancel,
    ) -> Result<()> {
        let heeding = |output| Heeding { output, cancel };
        if let Some(output) = &mut self.mpa {
            tally.write_mpa(tree, self.zero_counts, &mut heeding(output))?;
        }
        if let Some(output) = &mut self.krona {
            tally.write_krona(tree, &mut heeding(output))?;
        }
        if self.abundance.is_some() || self.cami.is_some() {
            let abundance = Abundance::new(tally, tree, targets, self.min_reads);
            if let Some(output) = &mut self.abundance {
                match bases.filter(|_| self.bases) {
                    Some(bases) => abundance.write_with_bases(
                        &abundance.of_bases(bases, targets),
                        &mut heeding(output),
                    )?,
                    None => abundance.write(&mut heeding(output))?,
                }
            }
            if let Some(output) = &mut self.cami {
                abundance.write_cami(&self.sample_id, &mut heeding(output))?;
            }
        }
        Ok(())
    }

    /// Returns all files, to be finished.
    pub(crate) fn into_outputs(self) -> impl Iterator<Item = Output> {
        let Reports { report, of_bases, mpa, krona, abundance, cami, bracken, .. } = self;
        let (table, rewritten) = bracken.map(|it| (it.table, it.report)).unzip();
        let all = [report, of_bases, mpa, krona, abundance, cami, table, rewritten.flatten()];
        all.into_iter().flatten()
    }
}

/// Returns the report that `write` writes.
fn report_of(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<KrakenReport> {
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(KrakenReport::of_text(&text)?)
}

/// Bracken's table and report, and the parameters of the estimate.
#[derive(Debug)]
struct Bracken {
    path: PathBuf,
    distribution: Distribution,
    level: Level,
    threshold: u64,
    table: Output,
    report: Option<Output>,
}

impl Bracken {
    /// Reads the distribution and creates the files, if they are wanted.
    fn create(
        args: &ReportArgs,
        sample: Option<&OsStr>,
        set: &OutputSet,
    ) -> Result<Option<Bracken>> {
        let Some(path) = &args.bracken else { return Ok(None) };
        let Some(table) = create(args.bracken_output.as_ref(), sample, set)? else {
            return Ok(None);
        };
        Ok(Some(Bracken {
            path: path.clone(),
            distribution: Distribution::read(path)?,
            level: args.bracken_level.clone(),
            threshold: args.bracken_threshold,
            table,
            report: create(args.bracken_report.as_ref(), sample, set)?,
        }))
    }

    fn write(
        &mut self,
        report: &KrakenReport,
        bases: Option<&KrakenReport>,
        cancel: &Cancel,
    ) -> Result<()> {
        let Bracken { distribution, level, threshold, .. } = self;
        let estimate = match bases {
            Some(bases) => Estimate::with_bases(report, bases, distribution, level, *threshold)?,
            None => Estimate::new(report, distribution, level, *threshold)?,
        };
        if let Some(doubt) = estimate.doubt() {
            console::warnings().push(format!("{}: {doubt}", self.path.display()));
        }
        estimate.write_table(&mut Heeding { output: &mut self.table, cancel })?;
        if let Some(output) = &mut self.report {
            estimate.write_report(&mut Heeding { output, cancel })?;
        }
        Ok(())
    }
}

/// An output that fails when the run is cancelled. Reports have a line for each taxon, and a deep taxonomy makes
/// each line long, so that writing one can take a while.
struct Heeding<'a> {
    output: &'a mut Output,
    cancel: &'a Cancel,
}

impl Write for Heeding<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other(merganser_classify::Error::Cancelled));
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The maximum number of columns of a plot on a terminal.
const MAX_COLUMNS: usize = 100;

/// The outputs that remain when all other files are finished.
pub(super) struct Closed {
    /// The file for the summary.
    pub(super) json: Option<Output>,
    /// The plot for the terminal.
    pub(super) picture: Option<String>,
}

/// All outputs of a sample.
#[derive(Debug)]
pub(super) struct Files {
    lines: Option<Output>,
    reads: ReadFiles,
    references: Option<Output>,
    by_database: Option<Output>,
    segments: Option<Output>,
    partial: Option<Output>,
    pub(super) json: Option<Output>,
    pages: Option<Pages>,
    /// Whether a plot for the terminal is wanted.
    shows: bool,
    reports: Reports,
}

impl Files {
    /// Returns the paths of all files, and what they hold.
    pub(super) fn outputs(
        args: &QueryArgs,
        segments: &[ReadInput],
        sample: Option<&OsStr>,
    ) -> Vec<(Holds, PathBuf)> {
        let QueryArgs { lines, reports, pages, .. } = args;
        let mut all = Reports::paths(reports, sample);
        all.extend(Pages::paths(pages, Kind::Taxa, sample));
        for (holds, path) in [
            (Holds::LINES, (!lines.no_map).then_some(&lines.output)),
            (Holds::LINES, lines.segments_out.as_ref()),
            (Holds::LINES, lines.hits_per_ref.as_ref()),
            (Holds::LINES, lines.database_report.as_ref()),
            (Holds::PARTIAL, lines.partial.as_ref()),
            (Holds::JSON, lines.json.as_ref()),
        ] {
            all.extend(path.map(|path| (holds, of_sample(path, sample))));
        }
        let holds = ReadFormat::holds(lines.output_format, Holds::ANY_READS);
        for paths in read_paths(lines, segments, sample).iter().flatten() {
            all.extend(paths.all().map(|path| (holds, path.to_owned())));
        }
        all
    }

    /// Creates all files.
    pub(super) fn create(
        args: &QueryArgs,
        segments: &[ReadInput],
        sample: Option<&OsStr>,
        style: &ReadStyle,
        (set, memory): (&OutputSet, u64),
    ) -> Result<Files> {
        let QueryArgs { lines, reports, pages, .. } = args;
        Ok(Files {
            lines: create((!lines.no_map).then_some(&lines.output), sample, set)?,
            reads: ReadFiles::create(
                read_paths(lines, segments, sample),
                style,
                segments,
                (set, memory),
            )?,
            segments: create(lines.segments_out.as_ref(), sample, set)?,
            references: create(lines.hits_per_ref.as_ref(), sample, set)?,
            by_database: create(lines.database_report.as_ref(), sample, set)?,
            partial: create(lines.partial.as_ref(), sample, set)?,
            json: create(lines.json.as_ref(), sample, set)?,
            shows: lines.plot.is_some(),
            pages: match Pages::is_wanted(pages) {
                true => {
                    let mut pages = Pages::create(pages, Kind::Taxa, sample, set)?;
                    pages.profile(inputs_of(segments), args.config.kraken2.quality_offset);
                    Some(pages)
                }
                false => None,
            },
            reports: Reports::create(reports, sample, set)?,
        })
    }

    /// Returns the outputs that a run writes to.
    pub(super) fn streams(&mut self) -> Outputs<'_> {
        let Files { lines, reads, segments, partial, .. } = self;
        Outputs {
            lines: lines.as_mut().map(|lines| lines as _),
            segments: segments.as_mut().map(|segments| segments as _),
            partial: partial.as_mut().map(|partial| partial as _),
            ..reads.streams()
        }
    }

    /// Writes the reports and finishes all files, which then only need to be committed. Returns what remains.
    pub(super) fn finish(
        mut self,
        outcome: &Outcome<'_>,
        tree: &Taxonomy,
        targets: &[Target],
        frame: Data,
        context: &Context,
    ) -> Result<Closed> {
        let bases = &outcome.bases_by_taxon;
        let counts = (&outcome.tally, bases);
        self.reports.write(counts, Some(outcome), tree, targets, &context.cancel)?;
        let mut picture = None;
        if self.shows || self.pages.is_some() {
            let features = outcome.features.as_ref();
            let options = ReportOptions { zero_counts: false, features };
            let report = report_of(|text| outcome.by_genome.write_kraken(tree, options, text))?;
            let of_bases = ReportOptions { features: None, ..options };
            let bases =
                self.reports.bases_of(|text| bases.by_genome.write_kraken(tree, of_bases, text))?;
            let abundance = Abundance::new(&outcome.tally, tree, targets, self.reports.min_reads);
            let shares = taxa::shares(&abundance, tree);
            let taxa = taxa::of(&report, bases.as_ref(), Some(&shares));
            picture = self.show(taxa, frame)?;
        }
        if let (Some(output), Some(references)) = (&mut self.references, &outcome.references) {
            references.write(output)?;
        }
        if let Some(output) = &mut self.by_database {
            let output = &mut Heeding { output, cancel: &context.cancel };
            outcome.by_genome.write_by_database(tree, &outcome.by_database, output)?;
        }
        Ok(Closed { json: self.close(context)?, picture })
    }

    /// Writes the reports of a Kraken 2 database's results and finishes all files, as [`finish`](Files::finish) does.
    pub(super) fn finish_kraken2(
        mut self,
        outcome: &mut Kraken2Outcome,
        database: &Kraken2Database,
        minimizers: bool,
        frame: Data,
        context: &Context,
    ) -> Result<Closed> {
        self.reports.write_kraken2(outcome, database, minimizers, &context.cancel)?;
        if let Some(output) = &mut self.by_database {
            let output = &mut Heeding { output, cancel: &context.cancel };
            outcome.counts.write_database_report(database.taxonomy(), output)?;
        }
        let mut picture = None;
        if self.shows || self.pages.is_some() {
            let options = Kraken2ReportOptions { zero_counts: false, minimizers };
            let (counts, taxonomy) = (&outcome.counts, database.taxonomy());
            let report = report_of(|text| counts.write_report(taxonomy, options, text))?;
            let of_bases = Kraken2ReportOptions { minimizers: false, ..options };
            let bases = self
                .reports
                .bases_of(|text| counts.in_bases().write_report(taxonomy, of_bases, text))?;
            picture = self.show(taxa::of(&report, bases.as_ref(), None), frame)?;
        }
        Ok(Closed { json: self.close(context)?, picture })
    }

    /// Writes the page, and draws the plot for the terminal.
    fn show(&mut self, taxa: Taxa, frame: Data) -> Result<Option<String>> {
        let columns = width().saturating_sub(1).min(MAX_COLUMNS);
        let picture = self.shows.then(|| text::taxa(&taxa, columns));
        if let Some(pages) = self.pages.take() {
            pages.write(Kind::Taxa, Data { taxa: Some(taxa), ..frame })?;
        }
        Ok(picture)
    }

    /// Finishes all files except the one for the summary.
    fn close(self, context: &Context) -> Result<Option<Output>> {
        let Files {
            lines, reads, references, by_database, segments, partial, json, reports, ..
        } = self;
        let all = [lines, references, by_database, segments, partial]
            .into_iter()
            .flatten()
            .chain(reads.end(context)?);
        for output in all.chain(reports.into_outputs()) {
            output.finish()?;
        }
        Ok(json)
    }
}

/// Returns the files for the classified and for the unclassified reads.
pub(super) fn read_paths(
    lines: &LineArgs,
    segments: &[ReadInput],
    sample: Option<&OsStr>,
) -> [Option<ReadPaths>; 2] {
    // A `#` in the name of a sample is no mark for mates.
    let own = |path: PathBuf| of_sample(&path, sample);
    let paths = |path: &PathBuf| {
        let ReadPaths { single, mates } = ReadPaths::new(path, segments);
        ReadPaths { single: single.map(own), mates: mates.map(|mates| mates.map(own)) }
    };
    [&lines.classified_out, &lines.unclassified_out].map(|path| path.as_ref().map(paths))
}

fn create(
    path: Option<&PathBuf>,
    sample: Option<&OsStr>,
    set: &OutputSet,
) -> Result<Option<Output>> {
    Ok(path.map(|path| set.output(of_sample(path, sample))).transpose()?)
}
