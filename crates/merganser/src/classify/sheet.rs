//! Many samples in one run, from a sample sheet.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::OutputSet;
use merganser_run::Summary;
use serde_json::{Map, Value};

use super::Environment;
use super::outputs::has_place_for_sample;
use super::query::Query;
use super::resume::Journal;
use crate::args::classify::{LineArgs, QueryArgs};
use crate::common::{text_of, write_summary};
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages;
use crate::samples::Sample;

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
        ("--report-html", &args.pages.report_html),
        ("--report-data", &args.pages.report_data),
        ("--multiqc", &args.pages.multiqc),
    ];
    let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    for (option, path) in lines.into_iter().chain(named) {
        if !has_place_for_sample(path) && path != Path::new("/dev/null") {
            return failure::usage(format!(
                "{option} {}: with --sample-sheet, put {{}} where the sample's name belongs",
                path.display()
            ));
        }
    }
    pages::refuse_name(&args.pages)?;
    if args.reports.sample_id.is_some() {
        return failure::usage("--sample-id: the samples' names are those of the sheet");
    }
    Ok(())
}

/// Checks, before any work, that the inputs of all samples exist, and that no output replaces an input or
/// another output of any sample. Returns the set of the outputs that do not belong to a sample.
///
/// # Errors
/// Names the input or output that fails the check.
pub(super) fn check(
    args: &QueryArgs,
    samples: &[Sample],
    mut files: RunFiles,
) -> Result<OutputSet> {
    check_names(args)?;
    let own = QueryArgs { lines: LineArgs { json: None, ..args.lines.clone() }, ..args.clone() };
    let queries = samples.iter().map(|(name, segments)| (name, segments.clone()));
    let queries: Vec<Query<'_>> =
        queries.map(|(name, segments)| Query::of_sample(&own, name, segments)).collect();
    for query in &queries {
        query.check_alone()?;
        files = query.declare(files);
    }
    let outputs = files.write(Holds::JSON, &args.lines.json).check()?;
    queries.iter().try_for_each(Query::check_inputs)?;
    Ok(outputs)
}

/// Classifies one sample after the other. The outputs of a sample appear together as soon as it is finished;
/// `outputs`, which has the summary, appears at the end. A sample that fails leaves no outputs, the others are
/// still classified, and the exit code is 1. Samples that `journal` has as finished are skipped.
pub(super) fn run(
    environment: &Environment<'_>,
    args: &QueryArgs,
    samples: Vec<Sample>,
    mut journal: Option<Journal>,
    outputs: &OutputSet,
) -> Result<ExitCode> {
    let mut args = args.clone();
    let json = args.lines.json.take();
    let json = json.as_deref().map(|path| outputs.output(path)).transpose()?;
    let mut summaries = Map::new();
    let (mut failed, mut done_before) = (Vec::new(), 0);
    let cancel = environment.cancel;
    for (name, segments) in &samples {
        let query = Query::of_sample(&args, name, segments.clone());
        let mut noted = journal.as_mut().map(|journal| (journal, query.job(environment)));
        let mut inputs = None;
        if let Some((journal, job)) = &mut noted {
            if let Some(results) = journal.results(job, cancel)? {
                summaries.insert(text_of(name), results);
                done_before += 1;
                continue;
            }
            // Errors of missing inputs are reported by the run.
            inputs = journal.inputs(job, cancel);
        }
        match query.run(environment, &OutputSet::new(), Instant::now()) {
            Ok(classified) => {
                let results = classified.summary.to_value()["results"].clone();
                if let Some((journal, job)) = noted
                    && let Some(why) = journal.note(&job, inputs, results.clone(), cancel)?
                {
                    let name = name.display();
                    environment.console.warn(format_args!("{name}: not noted as done: {why}"));
                }
                summaries.insert(text_of(name), results);
            }
            Err(error) if environment.cancel.is_cancelled() => return Err(error),
            Err(error) => {
                environment.console.error(format_args!(
                    "{}: {}",
                    name.display(),
                    failure::message(&error)
                ));
                summaries.insert(text_of(name), Value::Null);
                failed.push(text_of(name));
            }
        }
    }
    if journal.is_some() {
        environment.console.info(format_args!(
            "{done_before} of {} samples were skipped: an earlier run finished them, and their outputs are intact",
            samples.len()
        ));
    }
    if let Some(output) = json {
        let mut summary = Summary::new("classify");
        summary.version(env!("CARGO_PKG_VERSION"));
        summary.set("parameters", "threads", environment.context.threads);
        summary.set("results", "samples", summaries);
        summary.set("results", "failed", &failed);
        summary.set("seconds", "wall", environment.started.elapsed().as_secs_f64());
        summary.stage("open", environment.opened);
        write_summary(&mut summary, output)?;
    }
    outputs.commit_last()?;
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
