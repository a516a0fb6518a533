//! `merganser build --format kraken2`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use merganser_classify::{PartConfig, SketchConfig};
use merganser_io::{FileKind, MadeDirectories, Output, OutputSet};
use merganser_kraken2::{
    Kraken2BuildConfig, Kraken2BuildNotes, Kraken2Database, Kraken2Library, Kraken2Sequence,
    check_read_length, taxids_of_library,
};
use merganser_library::{LibraryMaps, References, check_maps};
use merganser_run::{Context, Silent, Summary, counted, format_size};
use merganser_taxonomy::{Dump, TaxonomySource};
use merganser_taxreport::bracken::Distribution;

use super::{context, dry_run, maps, references, report_unmapped, tell_others};
use crate::args::BuildArgs;
use crate::args::build::DatabaseFormat;
use crate::bracken::{Distributions, Genomes, Library};
use crate::common::write_summary;
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::holds::Holds;
use crate::{devices, failure, interrupt};

/// Builds a folder with the files that `kraken2` reads, and prints a summary.
pub(super) fn run(
    args: &BuildArgs,
    taxonomy: Option<&TaxonomySource>,
    console: &Console,
    started: Instant,
) -> Result<ExitCode> {
    check(args)?;
    let beside = args.beside.as_deref().map(Beside::open).transpose()?;
    let (config, context) = (config(args, beside.as_ref())?, context(&args.resources));
    config.validate()?;
    args.bracken.iter().try_for_each(|&length| check_read_length(length, config.k))?;
    merganser_run::raise_open_file_limit();
    let found = References::expand(&args.inputs)?;
    let maps = maps(&args.taxids, &found);
    let files = references(&args.inputs, &found, taxonomy, &args.taxids);
    let files = files.read(beside.iter().flat_map(|beside| Kraken2Database::files(beside.path)));
    let (inputs, maps_beside) = (found.inputs, found.maps);
    // The folder is removed again if it stays empty. It is dropped after the outputs, which are removed first.
    let folder = match args.dry.dry_run {
        true => MadeDirectories::check(&args.output).map(|()| MadeDirectories::default()),
        false => MadeDirectories::ensure(&args.output),
    };
    let _folder = folder.map_err(|error| {
        let reason = merganser_io::reason(&error);
        anyhow!("{}: cannot create this folder: {reason}", args.output.display())
    })?;
    let path = |length| Distribution::path_in(&args.output, length);
    let files = files.write(Holds::ANYTHING, args.bracken.iter().map(|&length| path(length)));
    let files = files.write(Holds::ANYTHING, Kraken2Database::files(&args.output));
    let files = files.write(Holds::JSON, &args.json);
    let outputs = files.check()?;
    check_maps(&maps)?;
    if args.dry.dry_run {
        let dry = DryRun::with_folder("build", &files, Some(&args.output), &context)?;
        return dry_run(args, dry, &inputs, || {
            let dump = read_taxonomy(taxonomy, beside, &context)?;
            Ok(merganser_kraken2::plan_build(&config, &inputs, &dump, &context)?)
        });
    }
    let distributions = Distributions::create(&args.bracken, path, &outputs)?;
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose()?;
    interrupt::cancel_on_interrupt();
    let own = Library { inputs: &inputs, context: &context };
    tell_others(&found.others, console);
    let dump = read_taxonomy(taxonomy, beside, &context)?;
    let (beside, taxonomy) = (&maps_beside[..], Some(&dump));
    let maps = LibraryMaps { given: &maps, beside, taxonomy, context: &context };
    let taxids = |sequences: &[Kraken2Sequence]| taxids_of_library(sequences, &inputs, &maps);
    let strict = args.taxids.config.strict;
    let library = Kraken2Library { inputs: &inputs, taxids: &taxids, taxonomy: &dump, strict };
    let to = (args.output.as_path(), &outputs);
    let notes = Kraken2Database::build_with(&config, library, to, &context)?;
    if !args.bracken.is_empty() {
        // Silent, because the maps have been reported already.
        let silent = context.clone().progress(Silent);
        let genomes = Genomes(LibraryMaps { context: &silent, ..maps });
        let database = Kraken2Database::open_files(&finished(args, &outputs)?)?;
        distributions.write(|length| own.of_kraken2(&database, &genomes, length))?;
    }
    report_unmapped(&notes.unmapped, unmapped)?;
    if let Some(output) = json {
        summary(&config, &context, &notes, started, output)?;
    }
    outputs.commit_last()?;
    tell(args, &notes, console, started);
    Ok(ExitCode::SUCCESS)
}

/// Reads the taxonomy; with `--beside`, it is that of the other database with additional taxa.
fn read_taxonomy(
    taxonomy: Option<&TaxonomySource>,
    beside: Option<Beside<'_>>,
    context: &Context,
) -> Result<Dump> {
    let dump = taxonomy.map(Dump::read).transpose()?;
    match (beside, dump) {
        (Some(beside), dump) => Ok(beside.database.extend(beside.path, dump, &context.warnings)?),
        (None, Some(dump)) => Ok(dump),
        (None, None) => failure::usage("--taxonomy is missing"),
    }
}

/// Returns the temporary paths of the database's files, which are finished but not committed yet.
fn finished(args: &BuildArgs, outputs: &OutputSet) -> Result<[PathBuf; 3]> {
    let finished = |path: PathBuf| {
        let lost = || anyhow!("{}: a pipe or a device cannot hold a database", path.display());
        outputs.finished(&path).ok_or_else(lost)
    };
    let [options, taxonomy, table] = Kraken2Database::files(&args.output).map(finished);
    Ok([options?, taxonomy?, table?])
}

/// The database that the new one is used together with.
struct Beside<'a> {
    path: &'a Path,
    database: Kraken2Database,
}

impl Beside<'_> {
    fn open(path: &Path) -> Result<Beside<'_>> {
        if FileKind::of_path(path) == Some(FileKind::Database) {
            bail!(
                "--beside {}: is a database of merganser, and not the folder of one of Kraken 2: build the further \
                 genomes alone, with the same options, and give both databases to `classify`",
                path.display()
            );
        }
        Ok(Beside { path, database: Kraken2Database::open(path)? })
    }
}

/// Refuses options that only databases of ours have.
fn check(args: &BuildArgs) -> Result<()> {
    if args.given.has("format") && args.format == DatabaseFormat::Merganser {
        return failure::usage("--beside requires --format kraken2, which it implies");
    }
    let parameters = ["k", "minimizer_len", "minimizer_spaces"];
    if args.beside.is_some() && parameters.iter().any(|id| args.given.has(id)) {
        return failure::usage(
            "-k, --minimizer-len and --minimizer-spaces cannot be used with --beside: its database decides",
        );
    }
    let sketches = args.given.first_of::<SketchConfig>(&["k", "masked"]);
    if sketches.or(args.given.first_of::<PartConfig>(&[])).is_some() {
        return failure::usage(
            "--parts, --max-part-size and the options under Sketches except -k and --masked cannot be used \
             with --format kraken2",
        );
    }
    Ok(())
}

fn config(args: &BuildArgs, beside: Option<&Beside<'_>>) -> Result<Kraken2BuildConfig> {
    let (of, sketches) = (args.kraken2.clone(), &args.sketches);
    let config = Kraken2BuildConfig {
        k: sketches.k.map_or(of.k, |k| k as usize),
        masked: sketches.masked.unwrap_or(of.masked),
        ..of
    };
    let Some(Beside { path, database }) = beside else { return Ok(config) };
    config.beside(database.options()).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn tell(args: &BuildArgs, notes: &Kraken2BuildNotes, console: &Console, started: Instant) {
    console.info(format_args!(
        "built {} from {} with {}: {}, {} in {:.1} s",
        args.output.display(),
        counted(notes.sequences, "sequence"),
        counted(notes.bases, "base"),
        counted(notes.size, "minimizer"),
        format_size(4 * notes.capacity),
        started.elapsed().as_secs_f64()
    ));
}

fn summary(
    config: &Kraken2BuildConfig,
    context: &Context,
    notes: &Kraken2BuildNotes,
    started: Instant,
    output: Output,
) -> Result<()> {
    let mut summary = Summary::new("build");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set("parameters", "format", "kraken2");
    summary.set_all("parameters", config);
    summary.set("parameters", "threads", context.threads);
    summary.set("parameters", "memory", context.budget());
    for (key, value) in [
        ("sequences", notes.sequences),
        ("bases", notes.bases),
        ("unmapped", notes.unmapped.len() as u64),
        ("taxa", notes.taxa),
        ("cells", notes.capacity),
        ("minimizers", notes.size),
        ("minimum_hash", notes.minimum_hash),
    ] {
        summary.set("results", key, value);
    }
    devices::describe(&[], context.gpu_memory, &mut summary);
    devices::clocks(started, &mut summary);
    for (name, time) in notes.stages.iter() {
        summary.stage(name, time);
    }
    Ok(write_summary(&mut summary, output)?)
}
