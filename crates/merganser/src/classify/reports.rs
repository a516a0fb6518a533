//! The reports of a sample.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use merganser_classify::partial::JoinedResults;
use merganser_classify::{Outcome, Target};
use merganser_io::{Output, OutputSet, is_read_once};
use merganser_kraken2::{Kraken2Database, Kraken2Outcome, Kraken2ReportOptions};
use merganser_run::Cancel;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::report::{Abundance, KrakenReport, ReportOptions, Tally, TaxonBases};

use crate::args::classify::ReportArgs;
use crate::common::text_of;
use crate::console;
use crate::failure;
use crate::holds::Holds;
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
    pub(super) min_reads: u64,
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
    pub(super) fn write_kraken2(
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
    pub(super) fn bases_of(
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
pub(super) fn report_of(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<KrakenReport> {
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
pub(super) struct Heeding<'a> {
    pub(super) output: &'a mut Output,
    pub(super) cancel: &'a Cancel,
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

/// Creates the file of a sample at a path, if there is one.
pub(super) fn create(
    path: Option<&PathBuf>,
    sample: Option<&OsStr>,
    set: &OutputSet,
) -> Result<Option<Output>> {
    Ok(path.map(|path| set.output(of_sample(path, sample))).transpose()?)
}
