//! `merganser classify --dry-run`.

use std::ffi::OsStr;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::{Classifier, Devices, plan_build};
use merganser_io::ReadInput;
use merganser_run::{Context, JobPlan};

use super::{DatabaseChoice, Reports, Work, build_config, kraken2, open, query};
use crate::args::ClassifyArgs;
use crate::args::classify::QueryArgs;
use crate::database::AnyDatabase;
use crate::dry_run::DryRun;
use crate::files::RunFiles;

/// Checks what a run needs, and prints what it would do.
pub(super) fn run(
    args: &ClassifyArgs,
    query: &QueryArgs,
    (work, source): (&Work<'_>, &DatabaseChoice),
    files: &RunFiles,
) -> Result<ExitCode> {
    let context = args.resources.context();
    let mut dry = DryRun::new("classify", files, &context)?;
    dry.journal(args.resume.as_deref())?;
    let reads = work.reads();
    let devices = source.devices(&context, &reads)?;
    match source {
        DatabaseChoice::Files(paths) => {
            let database = open(paths, &reads)?;
            Reports::check_inputs(&query.reports)?;
            paths.iter().try_for_each(|path| dry.file("database", path))?;
            dry.job(plan(query, &database, work.first(), (&devices, &context))?)?;
        }
        DatabaseChoice::References(found) => {
            let (config, taxonomy) = build_config(args, found)?;
            args.taxonomy.iter().try_for_each(|path| dry.file("taxonomy", path))?;
            dry.job(plan_build(&config, &found.inputs, taxonomy, &context)?)?;
            dry.genomes(&found.inputs)?;
            Reports::check_inputs(&query.reports)?;
        }
    }
    let any_names = query.reads.pairs.any_names;
    match work {
        Work::Single(single) => dry.reads(None, single.segments(), any_names)?,
        Work::Sheet(samples) => {
            for (name, segments) in samples {
                dry.reads(Some(OsStr::new(name)), segments, any_names)?;
            }
        }
        Work::Session => dry.row("reads", "those of the lines of stdin"),
    }
    dry.print()
}

impl Work<'_> {
    /// Returns the reads of the first sample: the plans of all samples are equal, except for devices.
    fn first(&self) -> &[ReadInput] {
        match self {
            Work::Single(single) => single.segments(),
            Work::Sheet(samples) => samples.first().map_or(&[][..], |(_, segments)| &segments[..]),
            Work::Session => &[],
        }
    }
}

/// Returns the plan of a sample.
fn plan(
    args: &QueryArgs,
    database: &AnyDatabase,
    reads: &[ReadInput],
    (devices, context): (&Devices, &Context),
) -> Result<JobPlan> {
    let segments = args.lines.segments_out.is_some();
    match database {
        AnyDatabase::Own(database) => {
            let thresholds = args.config.thresholds(database.params())?;
            let classifier = Classifier::on(database, &thresholds, devices, context)?;
            Ok(classifier.plan(&query::config(args, None), segments, context)?)
        }
        AnyDatabase::Kraken2(database) => {
            let config = kraken2::config(args, None);
            Ok(merganser_kraken2::plan_run(&config, database, (reads, segments), context)?)
        }
    }
}
