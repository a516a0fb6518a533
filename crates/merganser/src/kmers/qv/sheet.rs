//! Many samples in one run, each with its assemblies.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_assembly::Error;
use merganser_assembly::output::Names;
use merganser_io::{Input, OutputSet, ReadInput};
use merganser_run::Context;

use super::{assembly, evaluate, written};
use crate::args::kmers::{QvArgs, SampleReads};
use crate::common::text_of;
use crate::console::Console;
use crate::files::{RunFiles, files_of_table};
use crate::holds::Holds;
use crate::pages::shared::SharedPaths;
use crate::samples::journal::Job;
use crate::samples::run::{SheetRun, check_inputs, files_read, job, journal};
use crate::samples::{self, SampleWithAssemblies, check_places, of_sample};

/// Evaluates the assemblies of one sample after the other; see [`SheetRun::run`].
pub(super) fn run(
    args: &QvArgs,
    sheet: &Path,
    context: &Context,
    (console, started): (&Console, Instant),
) -> Result<ExitCode> {
    let mut args = args.clone();
    let shared = SharedPaths::take(&mut args.pages, Some(sheet));
    let args = &args;
    check_places([("-o", Some(&args.output))], &args.pages, args.json.as_ref())?;
    let samples = samples::read_with_assemblies(sheet, console)?;
    let each: Vec<QvArgs> = samples.iter().map(|sample| of(args, sample)).collect();
    let mut files = RunFiles::new().read([sheet]).write(Holds::JSON, &args.json);
    files = files.write(Holds::ANYTHING, &args.resume).write_each(shared.paths());
    let mut entries = Vec::new();
    for (sample, args) in samples.iter().zip(&each) {
        let (read, outputs) = (files_of(sample, context)?, outputs(args)?);
        files = files.read(&read).write_each(outputs.clone());
        entries.push(entry(sample, args, read, outputs.into_iter().map(|(_, path)| path)));
    }
    let set = files.check()?;
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let journal = journal(args.resume.as_deref(), Vec::new(), context, console)?;
    let (command, threads, cancel) = ("kmers qv", context.threads, &context.cancel);
    let pages = shared.create(command, entries.iter().map(|entry| &*entry.sample), &set)?;
    let run = SheetRun { command, console, cancel, journal, pages, threads, started, stage: None };
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

/// Returns the files that are read for a sample: all files of its table, or its reads, and the assemblies.
///
/// # Errors
/// If reads cannot be opened, or are neither sequences nor a table.
fn files_of(
    (_, segments, assemblies): &SampleWithAssemblies,
    context: &Context,
) -> Result<Vec<PathBuf>> {
    let (mut files, mut sequences) = (Vec::new(), Vec::new());
    for segment in segments {
        let table = match segment {
            ReadInput::Single(Input::File(path)) => files_of_table(path, context)?,
            _ => None,
        };
        match table {
            Some(table) => files.extend(table),
            None => sequences.push(segment.clone()),
        }
    }
    check_inputs([&sequences[..]])?;
    files.extend(files_read(&sequences));
    files.extend(assemblies.iter().cloned());
    Ok(files)
}

/// Makes the entry of a sample for the journal.
fn entry(
    sample: &SampleWithAssemblies,
    args: &QvArgs,
    files: Vec<PathBuf>,
    outputs: impl Iterator<Item = PathBuf>,
) -> Job {
    let (name, segments, assemblies) = sample;
    let options = format!(
        "{:?} {assemblies:?} {:?} {} {:?}",
        args.output, args.config, args.no_plots, args.pages
    );
    let sample = (name.clone(), segments.clone());
    Job { files, ..job("kmers qv", &sample, &options, outputs.collect()) }
}
