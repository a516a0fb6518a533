//! `merganser db prepare`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};
use merganser_io::Output;
use merganser_library::{Downloads, Library, LibraryConfig, LibraryOutcome, Passed};
use merganser_run::{Summary, thousands};

use crate::args::db::prepare::DbPrepareArgs;
use crate::common::{self, taxonomy_of, write_summary};
use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{devices, failure, interrupt};

/// Writes the manifest. Damaged genomes are an error; the manifest is still written, and lists them.
pub(super) fn run(args: &DbPrepareArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if args.output == Path::new("-") {
        return failure::usage("a manifest cannot be written to stdout: give -o FILE");
    }
    let taxonomy = taxonomy_of(&args.taxonomy);
    let config = LibraryConfig { taxonomy, ..args.config.clone() };
    let context = common::context(args.threads.number(), None, None, None);
    merganser_run::raise_open_file_limit();
    let downloads = Downloads::find(&args.folders)?;
    let taxonomy = config.taxonomy.as_ref().map(|source| source.files()).unwrap_or_default();
    let files = RunFiles::new().read(downloads.files()).read(&config.assembly_summary);
    let files = files.read(&config.md5).read(taxonomy).write(Holds::LINES, [&args.output]);
    let files = files.write(Holds::ANYTHING, [Library::journal(&args.output)]);
    let files = files.write(Holds::LINES, &args.missing);
    let outputs = files.write(Holds::JSON, &args.json).check()?;
    let mut missing = args.missing.as_deref().map(|path| outputs.output(path)).transpose()?;
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose()?;
    interrupt::cancel_on_interrupt();
    let nowhere: &mut dyn Write = &mut io::sink();
    let listing = missing.as_mut().map_or(nowhere, |output| output as &mut dyn Write);
    let manifest = &args.output;
    let library = Library::prepare(&config, &downloads, manifest, listing, &context)?;
    // Created only now, so that a run that is interrupted while it reads leaves only the journal.
    let mut output = outputs.output(&args.output)?;
    library.write(&mut output)?;
    output.finish()?;
    if let Some(output) = missing {
        output.finish()?;
    }
    if let Some(output) = json {
        summary(&config, context.threads, &library.outcome, started, output)?;
    }
    outputs.commit_last()?;
    let outcome = library.finish()?;
    tell(args, &outcome, console, started);
    refuse_damaged(args, &outcome.damaged)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the results and their warnings.
fn tell(args: &DbPrepareArgs, outcome: &LibraryOutcome, console: &Console, started: Instant) {
    for (passed, what) in [
        (
            &outcome.superseded,
            "are older versions of genomes that are in these folders and are left out",
        ),
        (&outcome.duplicates, "have genomes that another file has and are left out"),
        (&outcome.without_taxon, "have no taxon and are left out"),
    ] {
        if let Some((path, reason)) = &passed.first {
            let number = thousands(passed.number);
            let path = path.display();
            console.warn(format_args!("{number} files {what}, first {path}: {reason}"));
        }
    }
    if let (number, Some(first)) = &outcome.other_versions {
        let number = thousands(*number);
        console.warn(format_args!(
            "{number} genomes have another version than in the lists, first {first}"
        ));
    }
    if outcome.excluded.number > 0 {
        let number = thousands(outcome.excluded.number);
        console.info(format_args!("{number} files of another level or category are left out"));
    }
    if outcome.missing > 0 {
        let list = if args.missing.is_some() { "" } else { "; --missing FILE lists them" };
        let number = thousands(outcome.missing);
        console.info(format_args!("{number} genomes of the lists are not in the folders{list}"));
    }
    if outcome.known > 0 {
        let number = thousands(outcome.known);
        console
            .info(format_args!("{number} files are known from an earlier run and were not read"));
    }
    console.info(format_args!(
        "prepared {} of {} genomes with {} sequences and {} bases, {} of them with a listed MD5, in \
         {:.1} s",
        args.output.display(),
        thousands(outcome.genomes),
        thousands(outcome.records),
        thousands(outcome.bases),
        thousands(outcome.with_checksum),
        started.elapsed().as_secs_f64()
    ));
}

/// Returns an error if genomes are damaged.
fn refuse_damaged(args: &DbPrepareArgs, damaged: &Passed) -> Result<()> {
    let Some((path, reason)) = &damaged.first else { return Ok(()) };
    Err(anyhow!(
        "{} genomes are damaged, first {}: {reason}; {} lists all: download them again, then run this \
         command again, which reads only these",
        thousands(damaged.number),
        path.display(),
        args.output.display()
    ))
}

fn summary(
    config: &LibraryConfig,
    threads: usize,
    outcome: &LibraryOutcome,
    started: Instant,
    output: Output,
) -> Result<()> {
    let mut summary = Summary::new("db prepare");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set_all("parameters", config);
    summary.set("parameters", "threads", threads);
    for (key, value) in [
        ("genomes", outcome.genomes),
        ("sequences", outcome.records),
        ("bases", outcome.bases),
        ("with_md5", outcome.with_checksum),
        ("known", outcome.known),
        ("damaged", outcome.damaged.number),
        ("superseded", outcome.superseded.number),
        ("duplicates", outcome.duplicates.number),
        ("without_taxon", outcome.without_taxon.number),
        ("excluded", outcome.excluded.number),
        ("other_versions", outcome.other_versions.0),
        ("missing", outcome.missing),
    ] {
        summary.set("results", key, value);
    }
    devices::clocks(started, &mut summary);
    outcome.stages.iter().for_each(|(name, time)| summary.stage(name, time));
    Ok(write_summary(&mut summary, output)?)
}
