//! The output files of a sample.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Result;
use merganser_alignments::ReadFormat;
use merganser_classify::{Outcome, Outputs, Target};
use merganser_io::{Output, OutputSet, ReadInput};
use merganser_kraken2::{Kraken2Database, Kraken2Outcome, Kraken2ReportOptions};
use merganser_report::data::{Data, Taxa};
use merganser_report::multiqc::Kind;
use merganser_report::text;
use merganser_run::Context;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::output::{ReadFiles, ReadPaths, ReadStyle};
use merganser_taxreport::report::{Abundance, ReportOptions};

use super::reports::{Heeding, Reports, create, report_of};
use crate::args::classify::{LineArgs, QueryArgs};
use crate::holds::{FormatChoice, Holds};
use crate::pages::{Pages, inputs_of, taxa};
use crate::progress::width;
use crate::samples::of_sample;

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
