//! Many samples in one run, with one index.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::OutputSet;
use merganser_map::Error;
use merganser_run::{Cancel, Context};
use serde_json::Value;

use super::job::Job;
use super::{Session, index_path, open_index, page, report, summary};
use crate::args::map::MapArgs;
use crate::console::Console;
use crate::pages::shared::SharedPaths;
use crate::samples::journal;
use crate::samples::run::{self, SheetRun};

/// Maps one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    args: &MapArgs,
    jobs: &[Job],
    context: &Context,
    (set, shared): (&OutputSet, SharedPaths),
    (console, cancel, started): (&Console, &Cancel, Instant),
) -> Result<ExitCode> {
    run::check_inputs(jobs.iter().map(|job| &job.inputs[..]))?;
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let read = vec![args.reference.clone()];
    let journal = run::journal(args.resume.as_deref(), read, context, console)?;
    let index = open_index(args, context)?;
    let indexing = started.elapsed();
    let session = Session { args, context, index: &index, indexing, console };
    let entries: Vec<journal::Job> = jobs.iter().map(|job| entry(&session, job)).collect();
    let pages = shared.create("map", entries.iter().map(|entry| &*entry.sample), set)?;
    let of_sheet = SheetRun {
        command: "map",
        console,
        cancel,
        journal,
        pages,
        threads: context.threads,
        started,
        stage: Some(("index", indexing)),
    };
    of_sheet.run(&entries, (json, set), |at| map(&session, &jobs[at], &entries[at].sample))
}

/// Makes the entry of a sample for the journal.
fn entry(session: &Session<'_>, job: &Job) -> journal::Job {
    let args = session.args;
    let of_records =
        (&args.config, args.level, args.output_format, &args.cram_uri, args.index_format);
    let of_reads = (&args.read_group, args.pairs.any_names, &args.circular, &args.reference);
    let options = format!("{of_records:?} {of_reads:?} {:?} {:?}", args.inputs, args.pages);
    let mut outputs: Vec<PathBuf> = [job.output.clone()].into();
    outputs.extend(job.unmapped.clone());
    let index = index_path(args, job, session.index.contigs());
    outputs.extend(index.map(|(path, _)| path));
    outputs.extend(page::paths(args, job).into_iter().map(|(_, path)| path));
    let sample = (job.name.clone().unwrap_or_default(), job.inputs.clone());
    run::job("map", &sample, &options, outputs)
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
