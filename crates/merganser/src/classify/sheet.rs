//! Many samples in one run, from a sample sheet.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{OutputSet, is_read_once};

use super::Environment;
use super::query::Query;
use crate::args::classify::{LineArgs, QueryArgs};
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages::shared::SharedPaths;
use crate::samples::journal::{Job, Journal};
use crate::samples::run::SheetRun;
use crate::samples::{Sample, check_places};

/// Checks that each sample has its own outputs.
fn check_names(args: &QueryArgs) -> Result<()> {
    let lines = (!args.lines.no_map).then_some(("-o", &args.lines.output));
    let named = [
        ("--report", &args.reports.report),
        ("--report-bases", &args.reports.report_bases),
        ("--mpa", &args.reports.mpa),
        ("--krona", &args.reports.krona),
        ("--abundance", &args.reports.abundance),
        ("--cami", &args.reports.cami),
        ("--bracken-output", &args.reports.bracken_output),
        ("--bracken-report", &args.reports.bracken_report),
        ("--segments-out", &args.lines.segments_out),
        ("--hits-per-ref", &args.lines.hits_per_ref),
        ("--database-report", &args.lines.database_report),
        ("--partial", &args.lines.partial),
        ("--classified-out", &args.lines.classified_out),
        ("--unclassified-out", &args.lines.unclassified_out),
    ];
    let named = named.into_iter().map(|(option, path)| (option, path.as_ref()));
    let own = lines.into_iter().map(|(option, path)| (option, Some(path))).chain(named);
    check_places(own, &args.pages, args.lines.json.as_ref())?;
    if args.reports.sample_id.is_some() {
        return failure::usage("--sample-id: the samples' names are those of the sheet");
    }
    if let Some(path) = args.reports.bracken.as_ref().filter(|path| is_read_once(path)) {
        return failure::usage(format!(
            "--bracken {}: with --sample-sheet, each sample reads the distribution: give a file",
            path.display()
        ));
    }
    Ok(())
}

/// Checks, before any work, that the inputs of all samples exist, and that no output replaces an input or
/// another output of any sample. Returns the set of the outputs that do not belong to a sample.
///
/// # Errors
/// Names the input or output that fails the check.
pub(super) fn check(args: &QueryArgs, samples: &[Sample], files: RunFiles) -> Result<OutputSet> {
    check_names(args)?;
    let own = own(args);
    let queries = queries(&own, samples);
    queries.iter().try_for_each(Query::check_alone)?;
    let outputs = declare(args, &queries, files).check()?;
    queries.iter().try_for_each(Query::check_inputs)?;
    Ok(outputs)
}

/// Returns the arguments of a sample: the summary belongs to the run.
pub(super) fn own(args: &QueryArgs) -> QueryArgs {
    QueryArgs { lines: LineArgs { json: None, ..args.lines.clone() }, ..args.clone() }
}

/// Returns the queries of all samples.
pub(super) fn queries<'a>(own: &'a QueryArgs, samples: &'a [Sample]) -> Vec<Query<'a>> {
    let query = |(name, segments): &'a Sample| Query::of_sample(own, name, segments.clone());
    samples.iter().map(query).collect()
}

/// Adds the files of all samples, and the summary of the run.
pub(super) fn declare(args: &QueryArgs, queries: &[Query<'_>], files: RunFiles) -> RunFiles {
    let files = queries.iter().fold(files, |files, query| query.declare(files));
    files.write(Holds::JSON, &args.lines.json)
}

/// Classifies one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    environment: &Environment<'_>,
    args: &QueryArgs,
    samples: Vec<Sample>,
    (journal, shared): (Option<Journal>, SharedPaths),
    outputs: &OutputSet,
) -> Result<ExitCode> {
    let mut args = args.clone();
    let json = args.lines.json.take();
    let json = json.as_deref().map(|path| outputs.output(path)).transpose()?;
    let queries = queries(&args, &samples);
    let jobs: Vec<Job> = queries.iter().map(|query| query.job(environment)).collect();
    let names = jobs.iter().map(|job| &*job.sample);
    let pages = shared.create("classify", names, outputs)?;
    let run = SheetRun {
        command: "classify",
        console: environment.console,
        cancel: environment.cancel,
        journal,
        pages,
        threads: environment.context.threads,
        started: environment.started,
        stage: Some(("open", environment.opened)),
    };
    run.run(&jobs, (json, outputs), |at| {
        let classified = queries[at].run(environment, &OutputSet::new(), Instant::now())?;
        Ok(classified.summary.to_value()["results"].clone())
    })
}
