//! The files that classification writes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use merganser_classify::{Database, Error, Target};
use merganser_classify::{Outcome, Outputs};
use merganser_io::{Output, OutputSet, ReadInput};
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2Outcome, Kraken2ReportOptions};
use merganser_run::{Context, Warnings};
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::output::{ReadFiles, ReadPaths, ReadStyle};
use merganser_taxreport::report::{Abundance, KrakenReport, ReportOptions, Tally, TaxonBases};
use pyo3::prelude::*;

use crate::errors::wrong;
use crate::keywords::Keywords;
use crate::outputs::create;
use crate::reads::Reads;

/// The paths of the files, and the options of reports.
pub(super) struct Files {
    lines: Option<PathBuf>,
    report: Option<PathBuf>,
    report_bases: Option<PathBuf>,
    segments: Option<PathBuf>,
    mpa: Option<PathBuf>,
    krona: Option<PathBuf>,
    abundance: Option<PathBuf>,
    cami: Option<PathBuf>,
    pub(super) hits_per_ref: Option<PathBuf>,
    partial: Option<PathBuf>,
    classified: Option<ReadPaths>,
    unclassified: Option<ReadPaths>,
    bracken: Option<Bracken>,
    zero_counts: bool,
    /// Whether tables have bases beside reads.
    bases: bool,
    minimizers: bool,
    min_reads: u64,
    sample_id: String,
}

/// The options of Bracken's estimate.
struct Bracken {
    distribution: PathBuf,
    table: PathBuf,
    report: Option<PathBuf>,
    level: Level,
    threshold: u64,
}

impl Files {
    /// Takes the options of files.
    ///
    /// # Errors
    /// If there is no output, or arguments cannot be used together.
    pub(super) fn of(
        reads: &Reads,
        options: &Kraken2Config,
        keywords: &Keywords<'_>,
    ) -> PyResult<Files> {
        let read_paths = |name: &str| -> PyResult<Option<ReadPaths>> {
            Ok(keywords.path(name)?.map(|path| ReadPaths::new(&path, &reads.segments)))
        };
        let files = Files {
            lines: keywords.path("output")?,
            report: keywords.path("report")?,
            report_bases: keywords.path("report_bases")?,
            segments: keywords.path("segments_out")?,
            mpa: keywords.path("mpa")?,
            krona: keywords.path("krona")?,
            abundance: keywords.path("abundance")?,
            cami: keywords.path("cami")?,
            hits_per_ref: keywords.path("hits_per_ref")?,
            partial: keywords.path("partial")?,
            classified: read_paths("classified_out")?,
            unclassified: read_paths("unclassified_out")?,
            bracken: Bracken::of(keywords)?,
            zero_counts: keywords.flag("report_zero_counts")?,
            bases: keywords.flag("bases")?,
            minimizers: options.report_minimizer_data,
            min_reads: keywords.int_or("min_reads", 0)?,
            sample_id: keywords.or("sample_id", "sample".to_owned())?,
        };
        if files.bases && files.abundance.is_none() && files.bracken.is_none() {
            let problem = "requires abundance or bracken_output, to which it adds columns";
            return Err(wrong(keywords.py(), "bases", problem));
        }
        if files.segments.is_none() && options.segment_length.is_some() {
            return Err(wrong(keywords.py(), "segment_length", "requires segments_out"));
        }
        match files.all().is_empty() {
            true => {
                let problem = "there is no output: give output, report or another file; classify returns rows";
                Err(wrong(keywords.py(), "output", problem))
            }
            false => Ok(files),
        }
    }

    /// Returns the paths with the names of their arguments.
    pub(super) fn all(&self) -> Vec<(&'static str, &Path)> {
        let files = [
            ("output", &self.lines),
            ("report", &self.report),
            ("report_bases", &self.report_bases),
            ("segments_out", &self.segments),
            ("mpa", &self.mpa),
            ("krona", &self.krona),
            ("abundance", &self.abundance),
            ("cami", &self.cami),
            ("hits_per_ref", &self.hits_per_ref),
            ("partial", &self.partial),
        ];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)));
        let reads =
            [("classified_out", &self.classified), ("unclassified_out", &self.unclassified)];
        let reads = reads.into_iter().flat_map(|(name, paths)| {
            paths.iter().flat_map(ReadPaths::all).map(move |path| (name, path))
        });
        let bracken = self.bracken.iter().flat_map(|bracken| {
            let report = bracken.report.as_deref().map(|path| ("bracken_report", path));
            std::iter::once(("bracken_output", bracken.table.as_path())).chain(report)
        });
        files.chain(reads).chain(bracken).collect()
    }

    /// Returns the files that are read, besides the reads and the database.
    pub(super) fn read(&self) -> Option<&Path> {
        self.bracken.as_ref().map(|bracken| bracken.distribution.as_path())
    }

    /// Creates the files that are written during the run.
    pub(super) fn open(
        &self,
        reads: &[ReadInput],
        (set, memory): (&OutputSet, u64),
    ) -> Result<Open, Error> {
        let paths = [self.classified.clone(), self.unclassified.clone()];
        Ok(Open {
            lines: create(set, self.lines.as_ref())?,
            segments: create(set, self.segments.as_ref())?,
            partial: create(set, self.partial.as_ref())?,
            reads: ReadFiles::create(paths, &ReadStyle::default(), reads, (set, memory))?,
        })
    }

    /// Writes the reports of a run; they appear when `set` is committed. Returns the text of the Kraken-style report.
    pub(super) fn write(
        &self,
        outcome: &Outcome<'_>,
        database: &Database,
        set: &OutputSet,
        warnings: &Warnings,
    ) -> Result<Vec<u8>, Error> {
        let (tree, targets) = (database.taxonomy(), database.targets());
        let features = outcome.features.as_ref();
        let options = ReportOptions { zero_counts: self.zero_counts, features };
        let mut text = Vec::new();
        outcome.by_genome.write_kraken(tree, options, &mut text)?;
        if let Some(references) = &outcome.references {
            written(set, self.hits_per_ref.as_ref(), |output| references.write(output))?;
        }
        let TaxonBases { tally, by_genome } = &outcome.bases_by_taxon;
        let mut bases = Vec::new();
        by_genome.write_kraken(tree, ReportOptions { features: None, ..options }, &mut bases)?;
        self.others([&text, &bases], ([&outcome.tally, tally], tree, targets), set, warnings)?;
        Ok(text)
    }

    /// Writes the reports of a run with a Kraken 2 database as [`write`](Self::write) does.
    pub(super) fn write_kraken2(
        &self,
        outcome: &mut Kraken2Outcome,
        database: &Kraken2Database,
        set: &OutputSet,
        warnings: &Warnings,
    ) -> Result<Vec<u8>, Error> {
        let tally = outcome.tally(database);
        let (zero_counts, minimizers) = (self.zero_counts, self.minimizers);
        let options = Kraken2ReportOptions { zero_counts, minimizers };
        let mut text = Vec::new();
        outcome.counts.write_report(database.taxonomy(), options, &mut text)?;
        let (of_bases, mut bases) = (outcome.counts.in_bases(), Vec::new());
        let options = Kraken2ReportOptions { minimizers: false, ..options };
        of_bases.write_report(database.taxonomy(), options, &mut bases)?;
        let tree = database.tree();
        let bases_by_taxon = of_bases.tally(database.taxonomy(), tree);
        self.others([&text, &bases], ([&tally, &bases_by_taxon], tree, &[]), set, warnings)?;
        Ok(text)
    }

    /// Writes all reports from the Kraken-style ones of reads and of bases and the tallies of both.
    fn others(
        &self,
        [text, of_bases]: [&[u8]; 2],
        ([tally, bases], tree, targets): ([&Tally; 2], &Taxonomy, &[Target]),
        set: &OutputSet,
        warnings: &Warnings,
    ) -> Result<(), Error> {
        written(set, self.report.as_ref(), |output| output.write_all(text))?;
        written(set, self.report_bases.as_ref(), |output| output.write_all(of_bases))?;
        written(set, self.mpa.as_ref(), |output| tally.write_mpa(tree, self.zero_counts, output))?;
        written(set, self.krona.as_ref(), |output| tally.write_krona(tree, output))?;
        if self.abundance.is_some() || self.cami.is_some() {
            let abundance = Abundance::new(tally, tree, targets, self.min_reads);
            written(set, self.abundance.as_ref(), |output| match self.bases {
                true => abundance.write_with_bases(&abundance.of_bases(bases, targets), output),
                false => abundance.write(output),
            })?;
            written(set, self.cami.as_ref(), |output| {
                abundance.write_cami(&self.sample_id, output)
            })?;
        }
        match &self.bracken {
            Some(bracken) => bracken.write((text, self.bases.then_some(of_bases)), set, warnings),
            None => Ok(()),
        }
    }
}

impl Bracken {
    /// Takes the options; `None` if no estimate is wanted.
    fn of(keywords: &Keywords<'_>) -> PyResult<Option<Bracken>> {
        let (distribution, table) = (keywords.path("bracken")?, keywords.path("bracken_output")?);
        let level = keywords.named::<Level>("bracken_level")?;
        let threshold = keywords.int_or("bracken_threshold", 10)?;
        let report = keywords.path("bracken_report")?;
        let (Some(distribution), Some(table)) = (&distribution, &table) else {
            let given = [
                ("bracken", distribution.is_some()),
                ("bracken_output", table.is_some()),
                ("bracken_report", report.is_some()),
            ];
            return match given.into_iter().find(|given| given.1) {
                None => Ok(None),
                Some((name, _)) => {
                    let problem = "bracken and bracken_output require each other: give both";
                    Err(wrong(keywords.py(), name, problem))
                }
            };
        };
        let (distribution, table) = (distribution.clone(), table.clone());
        let level = level.unwrap_or_else(Level::species);
        Ok(Some(Bracken { distribution, table, report, level, threshold }))
    }

    /// Writes the table, and the report if it is wanted.
    fn write(
        &self,
        (report, bases): (&[u8], Option<&[u8]>),
        set: &OutputSet,
        warnings: &Warnings,
    ) -> Result<(), Error> {
        let (report, shares) =
            (KrakenReport::of_text(report)?, Distribution::read(&self.distribution)?);
        let estimate = match bases {
            Some(bases) => {
                let bases = KrakenReport::of_text(bases)?;
                Estimate::with_bases(&report, &bases, &shares, &self.level, self.threshold)?
            }
            None => Estimate::new(&report, &shares, &self.level, self.threshold)?,
        };
        if let Some(doubt) = estimate.doubt() {
            warnings.push(format!("{}: {doubt}", self.distribution.display()));
        }
        written(set, Some(&self.table), |output| estimate.write_table(output))?;
        written(set, self.report.as_ref(), |output| estimate.write_report(output))
    }
}

/// Writes a file, if there is a path.
fn written(
    set: &OutputSet,
    path: Option<&PathBuf>,
    write: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<(), Error> {
    if let Some(mut output) = create(set, path)? {
        write(&mut output)?;
        output.finish()?;
    }
    Ok(())
}

/// The files that are written during a run.
pub(super) struct Open {
    lines: Option<Output>,
    segments: Option<Output>,
    partial: Option<Output>,
    reads: ReadFiles,
}

impl Open {
    /// Returns the outputs of the run.
    pub(super) fn streams(&mut self) -> Outputs<'_> {
        Outputs {
            lines: self.lines.as_mut().map(|lines| lines as _),
            segments: self.segments.as_mut().map(|segments| segments as _),
            partial: self.partial.as_mut().map(|partial| partial as _),
            ..self.reads.streams()
        }
    }

    /// Finishes all files.
    pub(super) fn finish(self, context: &Context) -> Result<(), Error> {
        let reads = self.reads.end(context)?;
        for output in [self.lines, self.segments, self.partial].into_iter().flatten().chain(reads) {
            output.finish()?;
        }
        Ok(())
    }
}
