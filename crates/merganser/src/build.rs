//! `merganser build`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_classify::{BuildConfig, BuildNotes, Database, GpuConfig, Params, Preset};
use merganser_io::{Input, Output};
use merganser_run::{Summary, format_size};

use crate::args::build::{PartArgs, PresetName, ResourceArgs, SketchArgs, TaxidArgs};
use crate::args::{BuildArgs, DeviceArgs};
use crate::common::write_summary;
use crate::console::Console;
use crate::files::RunFiles;
use crate::progress::Bar;
use crate::{db, devices, failure, interrupt};

/// Bytes of references from which on `--device auto` takes GPUs: with 0.8 GB they have just made up
/// for the start of CUDA, beside 16 cores (docs/benchmarks.md).
const GPU_BREAK_EVEN: u64 = 2_000_000_000;

/// Builds, says what has no taxon, and reports.
pub(crate) fn run(args: &BuildArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if args.output == Path::new("-") {
        return failure::usage("a database cannot go to stdout: give -o a file name");
    }
    let Some(taxonomy) = args.taxonomy.as_deref() else {
        return failure::usage("--taxonomy is missing");
    };
    let mut config = config(&args.taxids, Some(&args.sketches), Some(&args.parts), &args.resources);
    config.validate()?;
    merganser_run::raise_open_file_limit();
    let inputs = merganser_classify::expand_references(&args.inputs)?;
    config.gpus = gpus(&args.resources, &inputs, config.threads, console)?;
    let files = references(&args.inputs, &inputs, Some(taxonomy), &args.taxids);
    let outputs = files.write([&args.output]).write(&args.json).check()?;
    let output = outputs.file(&args.output)?;
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose()?;
    let cancel = interrupt::cancel_on_interrupt();
    let bar = Bar::new(console);
    let built = merganser_classify::build(&config, &inputs, taxonomy, output, &bar, &cancel);
    drop(bar);
    let (database, notes) = built?;
    report_unmapped(&notes, unmapped)?;
    if let Some(output) = json {
        summary("build", &config, &database, &notes, started, output)?;
    }
    outputs.commit()?;
    warn(&notes, &args.taxids, console);
    console.info(format_args!(
        "built {} from {} sequences with {} bases: {} features, {} in {:.1} s",
        args.output.display(),
        database.targets().len(),
        notes.bases,
        database.features(),
        format_size(database.bytes()),
        started.elapsed().as_secs_f64()
    ));
    Ok(ExitCode::SUCCESS)
}

/// What a build reads, wherever that is done, and its list of sequences without a taxon.
pub(crate) fn references(
    args: &[PathBuf],
    inputs: &[Input],
    taxonomy: Option<&Path>,
    taxids: &TaxidArgs,
) -> RunFiles {
    let beside = merganser_classify::files_beside(inputs, taxonomy);
    let files = RunFiles::new().lists(args).inputs(inputs).read(beside);
    files.read(&taxids.map).write(&taxids.unmapped)
}

/// How to build; without `sketches`, the parameters are to be those of another database.
pub(crate) fn config(
    taxids: &TaxidArgs,
    sketches: Option<&SketchArgs>,
    parts: Option<&PartArgs>,
    resources: &ResourceArgs,
) -> BuildConfig {
    let preset = match sketches.and_then(|args| args.preset) {
        Some(PresetName::Metacache) => Preset::MetaCache,
        _ => Preset::Sensitive,
    };
    let of = preset.params();
    let params = sketches.map_or(of, |args| Params {
        k: args.k.unwrap_or(of.k),
        sketch: args.sketch.unwrap_or(of.sketch),
        window: args.window.unwrap_or(of.window),
        stride: args.stride.unwrap_or(of.stride),
        density: args.density.unwrap_or(of.density),
        max_locations: args.max_locations.unwrap_or(of.max_locations),
        preset,
    });
    let ambiguous =
        |args: &SketchArgs| Some((args.drop_ambiguous?, args.max_ambiguous.unwrap_or(1)));
    let defaults = BuildConfig::new(params);
    BuildConfig {
        drop_overfull: sketches.is_some_and(|args| args.drop_overfull),
        drop_ambiguous: sketches.and_then(ambiguous),
        parts: parts.map_or(1, |args| args.parts),
        max_part_bytes: parts.and_then(|args| args.max_part_size),
        maps: taxids.map.clone(),
        strict: taxids.strict,
        threads: resources.threads.number().unwrap_or(defaults.threads),
        memory: resources.memory.unwrap_or(defaults.memory),
        tmp_dir: resources.tmp_dir.clone().unwrap_or_else(|| defaults.tmp_dir.clone()),
        ..defaults
    }
}

/// The GPUs that are to build from `inputs`.
///
/// # Errors
/// If there are none and some were asked for.
pub(crate) fn gpus(
    resources: &ResourceArgs,
    inputs: &[Input],
    streams: usize,
    console: &Console,
) -> Result<GpuConfig> {
    let DeviceArgs { device, gpu_memory } = &resources.device;
    let devices = devices::choose(device, inputs, GPU_BREAK_EVEN, console)?;
    Ok(GpuConfig { devices, memory: *gpu_memory, streams })
}

/// Writes the list of sequences without a taxon.
pub(crate) fn report_unmapped(notes: &BuildNotes, output: Option<Output>) -> Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    for (name, reason) in &notes.unmapped {
        writeln!(output, "{name}\t{reason}")?;
    }
    output.finish()?;
    Ok(())
}

/// Says what is odd about the reference.
pub(crate) fn warn(notes: &BuildNotes, args: &TaxidArgs, console: &Console) {
    if let Some(taxid) = notes.orphans.first() {
        let count = notes.orphans.len();
        console.warn(format_args!(
            "{count} taxa have no parent in nodes.dmp and were put under the root, first {taxid}"
        ));
    }
    if let (count, Some(name)) = &notes.duplicates {
        console.warn(format_args!(
            "{count} sequences have an id that an earlier one has, first {name}; all are kept"
        ));
    }
    if let (count, Some(name)) = &notes.without_kmer {
        console.warn(format_args!(
            "{count} sequences have no k-mer, being too short or of N alone, and no read can be \
             found in them, first {name}"
        ));
    }
    if let Some((name, reason)) = notes.unmapped.first() {
        let count = notes.unmapped.len();
        let list = match args.unmapped {
            Some(_) => "",
            None => "; --unmapped FILE lists all",
        };
        console.warn(format_args!(
            "{count} sequences have no taxon and stand at the root, first {name}: {reason}{list}"
        ));
    }
}

/// Writes the `--json` summary.
pub(crate) fn summary(
    command: &str,
    config: &BuildConfig,
    database: &Database,
    notes: &BuildNotes,
    started: Instant,
    output: Output,
) -> Result<()> {
    let mut summary = Summary::new(command);
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set("parameters", "threads", config.threads);
    summary.set("parameters", "memory", config.memory);
    summary.set("results", "database", db::describe(database));
    summary.set("results", "bases", notes.bases);
    summary.set("results", "unmapped", notes.unmapped.len());
    summary.set("results", "duplicate_ids", notes.duplicates.0);
    summary.set("results", "spilled_bytes", notes.spilled_bytes);
    summary.set("results", "device_runs", notes.device_runs);
    devices::describe(&config.gpus.devices, config.gpus.memory, &mut summary);
    devices::clocks(started, &mut summary);
    notes.stages.iter().for_each(|(name, time)| summary.stage(name, *time));
    Ok(write_summary(&summary, output)?)
}
