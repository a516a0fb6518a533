//! The samples of a sheet, one after the other.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_alignments::RecordOptions;
use merganser_io::{Output, OutputSet, ReadInput, Records};
use merganser_run::{Cancel, Context, Summary};
use serde_json::{Map, Value};

use super::Sample;
use super::journal::{Inputs, Job, Journal};
use crate::common::{text_of, write_summary};
use crate::console::Console;
use crate::failure;
use crate::pages::shared::SharedPages;

/// A run of a command for all samples of a sheet.
pub(crate) struct SheetRun<'r> {
    /// The command's name.
    pub(crate) command: &'static str,
    pub(crate) console: &'r Console,
    pub(crate) cancel: &'r Cancel,
    /// The finished samples (`--resume`).
    pub(crate) journal: Option<Journal>,
    /// The page of all samples.
    pub(crate) pages: Option<SharedPages>,
    pub(crate) threads: usize,
    pub(crate) started: Instant,
    /// The stage before the first sample, and its time.
    pub(crate) stage: Option<(&'static str, Duration)>,
}

/// The results of all samples.
#[derive(Default)]
struct Results {
    samples: Map<String, Value>,
    failed: Vec<String>,
    /// The number of samples that an earlier run finished.
    skipped: usize,
}

impl SheetRun<'_> {
    /// Runs `work` for one job after the other; it returns the results for the summary. The outputs of a sample appear
    /// together as soon as it is finished; `outputs`, which has the summary `json`, appears at the end. A sample that
    /// fails leaves no outputs, the others are still done, and the exit code is 1. Samples that the journal has as
    /// finished are skipped; the page of all samples has their results, too.
    ///
    /// # Errors
    /// If the run is cancelled, or the journal, the page or the summary cannot be written.
    pub(crate) fn run(
        mut self,
        jobs: &[Job],
        (json, outputs): (Option<Output>, &OutputSet),
        mut work: impl FnMut(usize) -> Result<Value>,
    ) -> Result<ExitCode> {
        let mut results = Results::default();
        for (at, job) in jobs.iter().enumerate() {
            self.sample(job, &mut || work(at), &mut results)?;
        }
        if self.journal.is_some() {
            self.console.info(format_args!(
                "{} of {} samples were skipped: an earlier run finished them, and their outputs are intact",
                results.skipped,
                jobs.len()
            ));
        }
        if let Some(pages) = self.pages {
            pages.finish()?;
        }
        if let Some(output) = json {
            let mut summary = Summary::new(self.command);
            summary.version(env!("CARGO_PKG_VERSION"));
            summary.set("parameters", "threads", self.threads);
            summary.set("results", "samples", results.samples);
            summary.set("results", "failed", &results.failed);
            summary.set("seconds", "wall", self.started.elapsed().as_secs_f64());
            if let Some((stage, time)) = self.stage {
                summary.stage(stage, time);
            }
            write_summary(&mut summary, output)?;
        }
        outputs.commit_last()?;
        Ok(if results.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Runs a sample, unless it is finished.
    fn sample(
        &mut self,
        job: &Job,
        work: &mut dyn FnMut() -> Result<Value>,
        results: &mut Results,
    ) -> Result<()> {
        let mut inputs = Ok(Vec::new());
        if let Some(before) = self.earlier(job)? {
            results.samples.insert(job.sample.clone(), before);
            results.skipped += 1;
            return Ok(());
        }
        if let Some(journal) = &mut self.journal {
            // Errors of missing inputs are reported by the run.
            inputs = journal.inputs(job, self.cancel);
        }
        match work() {
            Ok(of_sample) => {
                self.note(job, inputs, &of_sample)?;
                results.samples.insert(job.sample.clone(), of_sample);
            }
            Err(error) if self.cancel.is_cancelled() => return Err(error),
            Err(error) => {
                let message = failure::message(&error);
                self.console.error(format_args!("{}: {message}", job.sample));
                results.samples.insert(job.sample.clone(), Value::Null);
                results.failed.push(job.sample.clone());
                if let Some(pages) = &mut self.pages {
                    // A sample may have left results before it failed.
                    pages.take();
                    pages.add_failed(&job.sample)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the results of a sample that an earlier run finished, and adds them to the page. `None` if the sample
    /// must be done (again).
    fn earlier(&mut self, job: &Job) -> Result<Option<Value>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let Some(results) = journal.results(job, self.cancel)? else { return Ok(None) };
        if let Some(pages) = &mut self.pages {
            let Some(line) = journal.page(job)? else {
                self.console.info(format_args!(
                    "{}: is done again, because the journal has no results of it for the page",
                    job.sample
                ));
                return Ok(None);
            };
            pages.add(&line)?;
        }
        Ok(Some(results))
    }

    /// Adds a finished sample to the page, and notes it in the journal.
    fn note(&mut self, job: &Job, inputs: Inputs, results: &Value) -> Result<()> {
        let line = self.pages.as_ref().and_then(SharedPages::take);
        if let (Some(pages), Some(line)) = (&mut self.pages, &line) {
            pages.add(line)?;
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let done = (results.clone(), line.as_deref());
        if let Some(why) = journal.note(job, inputs, done, self.cancel)? {
            self.console.warn(format_args!("{}: not noted as done: {why}", job.sample));
        }
        Ok(())
    }
}

/// Checks that the inputs of all samples exist.
///
/// # Errors
/// Names the first input that cannot be opened.
pub(crate) fn check_inputs<'s>(samples: impl IntoIterator<Item = &'s [ReadInput]>) -> Result<()> {
    for segments in samples {
        Records::open(segments, RecordOptions::default())?;
    }
    Ok(())
}

/// Checks that `--resume` is given with a sheet only. Clap does not if there are inputs, which the sheet replaces.
///
/// # Errors
/// A usage error.
pub(crate) fn check_resume(resume: Option<&Path>, sheet: Option<&Path>) -> Result<()> {
    match resume.is_some() && sheet.is_none() {
        true => failure::usage("--resume skips samples of a sheet: give --sample-sheet FILE"),
        false => Ok(()),
    }
}

/// Opens the journal of `--resume`, if it is given; `shared` are the files that all samples read.
///
/// # Errors
/// See [`Journal::open`].
pub(crate) fn journal(
    path: Option<&Path>,
    shared: Vec<PathBuf>,
    context: &Context,
    console: &Console,
) -> Result<Option<Journal>> {
    let Some(path) = path else { return Ok(None) };
    let mut journal = Journal::open(path, context.budget(), console)?;
    journal.set_shared(shared, &context.cancel);
    Ok(Some(journal))
}

/// Makes the job of a sample for the journal; `options` is everything besides files that decides its outputs, as text.
/// Names of inputs are part of it, because headers and pages show them.
pub(crate) fn job(
    command: &str,
    (name, segments): &Sample,
    options: &str,
    outputs: Vec<PathBuf>,
) -> Job {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{version} {command} {name:?} {segments:?} {options}");
    Job {
        sample: text_of(name),
        options: format!("{:08x}", crc32fast::hash(text.as_bytes())),
        files: files_read(segments),
        outputs,
    }
}

/// Returns the files that are read for a sample: reads, and the reference of CRAM with its index if there is one.
pub(crate) fn files_read(segments: &[ReadInput]) -> Vec<PathBuf> {
    let inputs = || segments.iter().flat_map(ReadInput::inputs);
    let reads = inputs().map(|input| input.path().unwrap_or(Path::new("/dev/stdin")).to_owned());
    // All inputs have the same reference.
    let reference = inputs().next().into_iter().flat_map(|input| input.files().skip(1));
    reads.chain(reference.filter(|file| file.exists())).collect()
}
