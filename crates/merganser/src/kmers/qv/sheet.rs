//! Many samples in one run, each with its assemblies.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_assembly::Error;
use merganser_assembly::output::Names;
use merganser_io::{OutputSet, ReadInput};
use merganser_run::Context;

use super::{assembly, evaluate, written};
use crate::args::kmers::{QvArgs, SampleReads};
use crate::common::text_of;
use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages;
use crate::samples::journal::Job;
use crate::samples::run::{SheetRun, check_inputs, job, journal};
use crate::samples::{self, SampleWithAssemblies, check_places, of_sample};

/// Evaluates the assemblies of one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    args: &QvArgs,
    sheet: &Path,
    context: &Context,
    (console, started): (&Console, Instant),
) -> Result<ExitCode> {
    check_places([("-o", Some(&args.output))].into_iter().chain(args.pages.places()))?;
    pages::refuse_name(&args.pages)?;
    let samples = samples::read_with_assemblies(sheet, console)?;
    let each: Vec<QvArgs> = samples.iter().map(|sample| of(args, sample)).collect();
    let mut files = RunFiles::new().read([sheet]).write(Holds::JSON, &args.json);
    files = files.write(Holds::ANYTHING, &args.resume);
    let mut entries = Vec::new();
    for (sample, args) in samples.iter().zip(&each) {
        let outputs = outputs(args)?;
        entries.push(entry(sample, args, outputs.iter().map(|(_, path)| path.clone()).collect()));
        files = files.inputs(sample.1.iter().flat_map(ReadInput::inputs)).read(&sample.2);
        files = files.write_each(outputs);
    }
    let set = files.check()?;
    check_inputs(samples.iter().map(|(_, segments, _)| &segments[..]))?;
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let journal = journal(args.resume.as_deref(), Vec::new(), context, console)?;
    let (command, threads, cancel) = ("kmers qv", context.threads, &context.cancel);
    let run = SheetRun { command, console, cancel, journal, threads, started, stage: None };
    run.run(&entries, (json, &set), |at| {
        console.info(format_args!("{}:", entries[at].sample));
        let now = (console, Instant::now());
        let summary = evaluate(&each[at], context, now, OutputSet::commit)?;
        Ok(summary.map(|summary| summary.to_value()["results"].clone()).unwrap_or_default())
    })
}

/// Returns the arguments of a sample, with its own inputs and outputs.
fn of(args: &QvArgs, (name, segments, assemblies): &SampleWithAssemblies) -> QvArgs {
    let own = |path: &PathBuf| of_sample(path, Some(name));
    let reads = segments.iter().flat_map(ReadInput::inputs).filter_map(|input| input.path());
    let files = reads.map(Path::to_owned).collect();
    let mut of = args.clone();
    of.of_sample = Some(SampleReads { name: text_of(name), files });
    of.assemblies.clone_from(assemblies);
    of.output = own(&args.output);
    of.json = None;
    of.pages = args.pages.of_sample(name);
    of
}

/// Returns all outputs of a sample, with their formats.
fn outputs(args: &QvArgs) -> Result<Vec<(Holds, PathBuf)>> {
    let assemblies = args.assemblies.iter().map(|path| Ok(assembly(path)?.name));
    let assemblies = assemblies.collect::<Result<Vec<_>>>()?;
    let reads = args.of_sample.as_ref().map_or("", |of| &of.name);
    Ok(written(args, &Names::new(&args.output, reads, assemblies)))
}

/// Makes the entry of a sample for the journal.
fn entry(sample: &SampleWithAssemblies, args: &QvArgs, outputs: Vec<PathBuf>) -> Job {
    let (name, segments, assemblies) = sample;
    let options = format!(
        "{:?} {assemblies:?} {:?} {} {:?}",
        args.output, args.config, args.no_plots, args.pages
    );
    let mut job = job("kmers qv", &(name.clone(), segments.clone()), &options, outputs);
    job.files.extend(assemblies.iter().cloned());
    job
}
