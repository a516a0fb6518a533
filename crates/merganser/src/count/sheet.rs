//! Many samples in one run, each counted by itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_count::{Config, Error, Storage};
use merganser_io::{Input, OutputSet, ReadInput, is_read_once};
use merganser_run::Context;
use merganser_run::options::Auto;
use merganser_seq::signature::Rule;

use super::{count, dry, outputs};
use crate::args::CountArgs;
use crate::console::Console;
use crate::files::{RunFiles, files_of_table};
use crate::holds::Holds;
use crate::pages::{Pages, shared::SharedPaths};
use crate::samples::journal::Job;
use crate::samples::run::{SheetRun, check_inputs, job, journal};
use crate::samples::{self, Sample, check_places, of_sample};
use crate::{failure, interrupt};

/// Counts one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    args: &CountArgs,
    sheet: &Path,
    config: Config,
    context: &Context,
    (console, started): (&Console, Instant),
) -> Result<ExitCode> {
    let mut args = args.clone();
    let shared = SharedPaths::take(&mut args.pages, Some(sheet));
    let args = &args;
    check(args)?;
    // A shard of the samples is whole samples.
    let shard = config.shard;
    shared.refuse_shard(shard)?;
    let config = Config { shard: None, ..config };
    config.validate()?;
    let samples = samples::read(sheet, &args.reads, false, console)?;
    let samples = samples::of_shard(samples, shard)?;
    let inputs: Vec<Vec<Input>> = samples.iter().map(inputs_of).collect();
    let each: Vec<CountArgs> = samples.iter().map(|(name, _)| of(args, name)).collect();
    let panel = panel(&config, context)?;
    let files = files(args, sheet, &each, &inputs).read(&panel).write_each(shared.paths());
    let set = files.check()?;
    check_inputs(samples.iter().map(|(_, segments)| &segments[..]))?;
    if args.dry.dry_run {
        let samples = samples.iter().zip(&inputs);
        let samples: Vec<_> =
            samples.map(|(sample, inputs)| (Some(sample.0.as_os_str()), &inputs[..])).collect();
        return dry::run(args, (&config, context), &files, &samples);
    }
    let cancel = interrupt::cancel_on_interrupt();
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let journal = journal(args.resume.as_deref(), panel, context, console)?;
    let samples = samples.iter().zip(&each);
    let jobs: Vec<Job> = samples.map(|(sample, args)| entry(args, &config, sample)).collect();
    let threads = context.threads;
    let command = "count";
    let cancel = &cancel;
    let pages = shared.create(command, jobs.iter().map(|job| &*job.sample), &set)?;
    let run = SheetRun { command, console, cancel, journal, pages, threads, started, stage: None };
    run.run(&jobs, (json, &set), |at| {
        console.info(format_args!("{}:", jobs[at].sample));
        let (set, now) = (OutputSet::new(), (console, Instant::now()));
        let counted =
            count(&each[at], (&config, context), &inputs[at], &set, now, OutputSet::commit)?;
        Ok(counted.to_value()["results"].clone())
    })
}

/// Checks that each sample has its own outputs.
fn check(args: &CountArgs) -> Result<()> {
    let own = [("-o", args.output.as_ref()), ("--histogram", args.histogram.as_ref())];
    check_places(own, &args.pages, args.json.as_ref())?;
    let has_output = args.output.is_some() || args.histogram.is_some();
    match has_output || args.model || Pages::is_wanted(&args.pages) || args.json.is_some() {
        true => Ok(()),
        false => failure::usage("an output is missing: -o {}.mgk or --histogram {}.hist"),
    }
}

/// Returns the files of the panel, if there is one.
///
/// # Errors
/// If it cannot be opened, or can be read only once.
fn panel(config: &Config, context: &Context) -> Result<Vec<PathBuf>> {
    let Some(path) = &config.panel else { return Ok(Vec::new()) };
    if is_read_once(path) {
        return failure::usage(format!(
            "--panel {}: with --sample-sheet, each sample reads the panel: give a file",
            path.display()
        ));
    }
    Ok(files_of_table(path, context)?.unwrap_or_else(|| vec![path.clone()]))
}

fn inputs_of((_, segments): &Sample) -> Vec<Input> {
    segments.iter().flat_map(ReadInput::inputs).cloned().collect()
}

/// Returns the arguments of a sample, with its own outputs.
fn of(args: &CountArgs, name: &OsStr) -> CountArgs {
    let own = |path: &Option<PathBuf>| path.as_deref().map(|path| of_sample(path, Some(name)));
    let mut of = args.clone();
    of.output = own(&args.output);
    of.histogram = own(&args.histogram);
    of.json = None;
    of.config.shard = None;
    of.pages = args.pages.of_sample(name);
    of
}

/// Returns all files that the run reads and writes.
fn files(args: &CountArgs, sheet: &Path, each: &[CountArgs], inputs: &[Vec<Input>]) -> RunFiles {
    let mut files = RunFiles::new().read([sheet]);
    for (args, inputs) in each.iter().zip(inputs) {
        files = files.inputs(inputs).write_each(outputs::written(args));
    }
    files.write(Holds::JSON, &args.json).write(Holds::ANYTHING, &args.resume)
}

/// Makes the entry of a sample for the journal.
fn entry(args: &CountArgs, config: &Config, sample: &Sample) -> Job {
    // No output depends on these.
    let config = Config {
        storage: Storage::Auto,
        gpu_streams: None,
        bins: Auto::default(),
        minimizer_len: Auto::default(),
        rule: Rule::Gkc,
        ..config.clone()
    };
    let histogram = (&args.histogram, args.histogram_format, args.hist_max);
    let table = (&args.output, args.format(), &args.pages);
    let options = format!("{config:?} {table:?} {histogram:?}");
    let outputs = outputs::written(args).into_iter().map(|(_, path)| path).collect();
    job("count", sample, &options, outputs)
}
