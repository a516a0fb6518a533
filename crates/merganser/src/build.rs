//! `merganser build`.

mod kraken2;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_classify::{BuildConfig, BuildOutcome, Database};
use merganser_io::{Input, Output};
use merganser_kraken2::{Kraken2BuildConfig, check_read_length};
use merganser_library::References;
use merganser_run::{Context, JobPlan, Summary, counted, format_size};
use merganser_taxonomy::TaxonomySource;
use merganser_taxreport::bracken::Distribution;

use crate::args::BuildArgs;
use crate::args::build::{DatabaseFormat, ResourceArgs, TaxidArgs};
use crate::bracken::{Distributions, Library};
use crate::common::{taxonomy_of, write_summary};
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{db, devices, failure, interrupt};

/// Builds a database, lists sequences without a taxon, and prints a summary.
pub(crate) fn run(args: &BuildArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if args.output == Path::new("-") {
        return failure::usage("a database cannot be written to stdout: give -o FILE");
    }
    let taxonomy = taxonomy_of(&args.taxonomy);
    if args.format == DatabaseFormat::Kraken2 || args.beside.is_some() {
        return kraken2::run(args, taxonomy.as_ref(), console, started);
    }
    let Some(taxonomy) = &taxonomy else {
        return failure::usage("--taxonomy is missing");
    };
    check(args)?;
    let config = BuildConfig {
        sketches: args.sketches.clone(),
        parts: args.parts.clone(),
        taxids: args.taxids.config.clone(),
        ..BuildConfig::default()
    };
    let context = context(&args.resources);
    config.validate_for(&context)?;
    let k = config.params().k as usize;
    args.bracken.iter().try_for_each(|&length| check_read_length(length, k))?;
    merganser_run::raise_open_file_limit();
    let found = References::expand(&args.inputs)?;
    let config = with_maps(config, &found);
    let files = references(&args.inputs, &found, Some(taxonomy), &args.taxids);
    let inputs = found.inputs;
    let path = |length| Distribution::path_beside(&args.output, length);
    let distributions = args.bracken.iter().map(|&length| path(length));
    let files = files.write(Holds::DATABASE, [&args.output]).write(Holds::JSON, &args.json);
    let files = files.write(Holds::ANYTHING, distributions);
    let outputs = files.check()?;
    if args.dry.dry_run {
        if !args.bracken.is_empty() {
            Library { inputs: &inputs, context: &context }.refuse_pipes("--bracken")?;
        }
        let dry = DryRun::new("build", &files, &context)?;
        return dry_run(args, dry, &inputs, || {
            Ok(merganser_classify::plan_build(&config, &inputs, taxonomy, &context)?)
        });
    }
    let distributions = Distributions::create(&args.bracken, path, &outputs)?;
    let output = outputs.file(&args.output)?;
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose()?;
    interrupt::cancel_on_interrupt();
    let own = args.resources.context();
    let library = Library { inputs: &inputs, context: &own };
    if !args.bracken.is_empty() {
        library.refuse_pipes("--bracken")?;
    }
    tell_others(&found.others, console);
    let (database, outcome) =
        merganser_classify::build_with(&config, &inputs, taxonomy, output, &context)?;
    distributions.write(|length| library.of(&database, length))?;
    report_unmapped(&outcome.unmapped, unmapped)?;
    tell_of_list(&outcome.unmapped, &args.taxids, console);
    if let Some(output) = json {
        summary("build", (&config, &context), &database, &outcome, started, output)?;
    }
    outputs.commit_last()?;
    console.info(format_args!(
        "built {} from {} with {}: {}, {} in {:.1} s",
        args.output.display(),
        counted(database.targets().len() as u64, "sequence"),
        counted(database.targets().iter().map(|target| target.bases).sum(), "base"),
        counted(database.features(), "feature"),
        format_size(database.bytes()),
        started.elapsed().as_secs_f64()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Checks the genomes of a build, and prints what it would do; `plan` reads the taxonomy.
fn dry_run(
    args: &BuildArgs,
    mut dry: DryRun<'_>,
    inputs: &[Input],
    plan: impl FnOnce() -> Result<JobPlan>,
) -> Result<ExitCode> {
    args.taxonomy.iter().try_for_each(|path| dry.file("taxonomy", path))?;
    dry.job(plan()?)?;
    dry.genomes(inputs)?;
    dry.print()
}

/// Refuses options that only databases of Kraken 2 have.
fn check(args: &BuildArgs) -> Result<()> {
    match args.given.first_of::<Kraken2BuildConfig>(&[]) {
        Some(option) => failure::usage(format!("{option} requires --format kraken2")),
        None => Ok(()),
    }
}

/// Returns the files that a build reads, in any command, and its list of sequences without a taxon.
pub(crate) fn references(
    args: &[PathBuf],
    found: &References,
    taxonomy: Option<&TaxonomySource>,
    taxids: &TaxidArgs,
) -> RunFiles {
    let beside = merganser_library::files_beside(&found.inputs, taxonomy);
    let files = RunFiles::new().lists(args).inputs(&found.inputs).read(beside);
    files.read(maps(taxids, found)).read(&found.maps).write(Holds::LINES, &taxids.unmapped)
}

/// Returns the maps that were given, and the manifests among the references.
pub(crate) fn maps(taxids: &TaxidArgs, found: &References) -> Vec<PathBuf> {
    taxids.config.map.iter().chain(&found.manifests).cloned().collect()
}

/// Returns the context of a build, with the memory as a number, so that summaries can report it.
pub(crate) fn context(args: &ResourceArgs) -> Context {
    let context = args.context();
    let memory = context.budget();
    context.memory(memory)
}

/// Adds the maps and manifests among the references to a configuration.
pub(crate) fn with_maps(config: BuildConfig, found: &References) -> BuildConfig {
    let mut config = BuildConfig { maps_beside: found.maps.clone(), ..config };
    config.taxids.map.extend_from_slice(&found.manifests);
    config
}

/// Writes the list of sequences without a taxon.
pub(crate) fn report_unmapped(unmapped: &[(String, String)], output: Option<Output>) -> Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    for (name, reason) in unmapped {
        writeln!(output, "{name}\t{reason}")?;
    }
    output.finish()?;
    Ok(())
}

/// Mentions `--unmapped` if there are sequences without a taxon and it was not given.
pub(crate) fn tell_of_list(unmapped: &[(String, String)], args: &TaxidArgs, console: &Console) {
    if !unmapped.is_empty() && args.unmapped.is_none() {
        console.info("--unmapped FILE lists all sequences without a taxon");
    }
}

/// Reports the files in folders that are not genomes.
pub(crate) fn tell_others(others: &[PathBuf], console: &Console) {
    if let Some(first) = others.first() {
        console.info(format_args!(
            "{} files of genes or reads in folders are left out, first {}",
            others.len(),
            first.display()
        ));
    }
}

/// Writes the `--json` summary.
pub(crate) fn summary(
    command: &str,
    (config, context): (&BuildConfig, &Context),
    database: &Database,
    outcome: &BuildOutcome,
    started: Instant,
    output: Output,
) -> Result<()> {
    let mut summary = Summary::new(command);
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set_all("parameters", config);
    summary.set("parameters", "threads", context.threads);
    summary.set("parameters", "memory", context.budget());
    summary.set("results", "database", db::describe(database));
    summary.set("results", "bases", outcome.bases);
    summary.set("results", "unmapped", outcome.unmapped.len());
    summary.set("results", "unranked", outcome.unranked.0);
    summary.set("results", "duplicate_ids", outcome.duplicates.0);
    summary.set("results", "spilled_bytes", outcome.spilled_bytes);
    summary.set("results", "device_runs", outcome.device_runs);
    let gpus: Vec<u32> = outcome.devices.iter().map(|gpu| gpu.ordinal).collect();
    devices::describe(&gpus, context.gpu_memory, &mut summary);
    devices::clocks(started, &mut summary);
    outcome.stages.iter().for_each(|(name, time)| summary.stage(name, time));
    Ok(write_summary(&mut summary, output)?)
}
