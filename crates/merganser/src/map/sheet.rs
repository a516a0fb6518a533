//! Many samples in one run, with one index.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::RecordOptions;
use merganser_io::{OutputSet, Records};
use merganser_map::Error;
use merganser_run::{Cancel, Context, Summary};
use serde_json::{Map, Value};

use super::job::Job;
use super::{Session, open_index, page, report, summary};
use crate::args::map::MapArgs;
use crate::common::{text_of, write_summary};
use crate::console::Console;
use crate::failure;

/// Maps one sample after the other. The outputs of a sample appear together as soon as it is finished; the summary,
/// which is in `set`, appears at the end. A sample that fails leaves no outputs, the others are still mapped, and
/// the exit code is 1.
pub(super) fn run(
    args: &MapArgs,
    jobs: &[Job],
    context: &Context,
    set: &OutputSet,
    (console, cancel, started): (&Console, &Cancel, Instant),
) -> Result<ExitCode> {
    check_inputs(jobs)?;
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let index = open_index(args, context)?;
    let indexing = started.elapsed();
    let session = Session { args, context, index: &index, indexing, console };
    let (mut summaries, mut failed) = (Map::new(), Vec::new());
    for job in jobs {
        let name = job.name.as_deref().map(text_of).unwrap_or_default();
        match map(&session, job, &name) {
            Ok(results) => drop(summaries.insert(name, results)),
            Err(error) if cancel.is_cancelled() => return Err(error),
            Err(error) => {
                console.error(format_args!("{name}: {}", failure::message(&error)));
                summaries.insert(name.clone(), Value::Null);
                failed.push(name);
            }
        }
    }
    if let Some(output) = json {
        let mut summary = Summary::new("map");
        summary.version(env!("CARGO_PKG_VERSION"));
        summary.set("parameters", "threads", context.threads);
        summary.set("results", "samples", summaries);
        summary.set("results", "failed", &failed);
        summary.set("seconds", "wall", started.elapsed().as_secs_f64());
        summary.stage("index", indexing);
        write_summary(&mut summary, output)?;
    }
    set.commit_last().map_err(Error::from)?;
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks that the inputs of all samples exist.
fn check_inputs(jobs: &[Job]) -> Result<()> {
    for job in jobs {
        Records::open(&job.inputs, RecordOptions::default()).map_err(Error::from)?;
    }
    Ok(())
}

/// Maps a sample, and returns its results for the summary.
fn map(session: &Session<'_>, job: &Job, name: &str) -> Result<Value> {
    let started = Instant::now();
    let set = OutputSet::new();
    let mut opened = job.outputs(&set)?;
    opened.index = session.index_output(job, &set)?;
    let pages = page::create(session.args, job, &set)?;
    let outcome = session.map(job, opened)?;
    let finished = session.finished(job, &outcome, started);
    page::write(&finished, job, pages)?;
    set.commit().map_err(Error::from)?;
    session.console.info(format_args!("{name}:"));
    report::print(&finished, session.console);
    Ok(summary::of(&finished).to_value()["results"].clone())
}
