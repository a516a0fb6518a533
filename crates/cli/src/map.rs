//! `merganser map`.

mod report;
mod summary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_io::{Input, Output};
use merganser_map::{
    Config, Error, Format, Index, Job, Outcome, Outputs, ReadGroup, Reads, Strand,
};
use merganser_run::{Cancel, DeviceChoice};

use crate::args::map::MapArgs;
use crate::common::refuse_to_replace;
use crate::console::Console;
use crate::failure::usage;
use crate::progress::Bar;
use crate::{devices, index, interrupt};

/// A finished run, as the reports need it.
struct Finished<'r> {
    args: &'r MapArgs,
    job: &'r Job,
    inputs: &'r [Reads],
    index: &'r Index,
    outcome: &'r Outcome,
    /// Opening or building the index.
    indexing: Duration,
    /// From the first read to the last record.
    mapping: Duration,
    started: Instant,
}

/// Maps and reports.
pub(crate) fn run(args: &MapArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    check(args)?;
    let mut job = job(args)?;
    job.config.validate()?;
    let inputs = inputs(args)?;
    let outputs: Vec<PathBuf> = [Some(&args.output), args.unmapped.as_ref(), args.json.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let reference = Input::File(args.reference.clone());
    let both = |reads: &Reads| [Some(reads.first.clone()), reads.second.clone()];
    let files: Vec<Input> = inputs.iter().flat_map(both).flatten().chain([reference]).collect();
    refuse_to_replace(&outputs, &files)?;
    let cancel = interrupt::cancel_on_interrupt();
    let opened = Outputs {
        records: Output::create(&args.output).map_err(Error::from)?,
        unmapped: args.unmapped.as_deref().map(Output::create).transpose().map_err(Error::from)?,
    };
    let json = args.json.as_deref().map(Output::create).transpose().map_err(Error::from)?;
    let index = open(args, console, &cancel)?;
    choose_devices(args, &mut job, &index, &inputs, console)?;
    let indexing = started.elapsed();
    let bar = Bar::new(console);
    let begun = Instant::now();
    let outcome = merganser_map::run(&job, &index, &inputs, opened, &bar, &cancel);
    drop(bar);
    let outcome = outcome?;
    let mapping = begun.elapsed().saturating_sub(outcome.sync);
    let finished = Finished {
        args,
        job: &job,
        inputs: &inputs,
        index: &index,
        outcome: &outcome,
        indexing,
        mapping,
        started,
    };
    report::print(&finished, console);
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What clap cannot say of options that do not go together.
fn check(args: &MapArgs) -> Result<()> {
    let stdout = |path: &Path| path.as_os_str() == "-";
    let outputs = [Some(&args.output), args.unmapped.as_ref(), args.json.as_ref()];
    if outputs.into_iter().flatten().filter(|path| stdout(path)).count() > 1 {
        return usage("only one of -o (default -), --unmapped and --json can be stdout");
    }
    if !args.mates.is_empty() && Strand::from(args.strand) != Strand::Both {
        return usage("--strand and -2 exclude each other: mates lie on both strands");
    }
    Ok(())
}

fn inputs(args: &MapArgs) -> Result<Vec<Reads>> {
    let first = args.inputs.expand(&args.reads).map_err(Error::from)?;
    let second = args.inputs.expand(&args.mates).map_err(Error::from)?;
    if !second.is_empty() && first.len() != second.len() {
        return usage(format!(
            "there are {} files of reads and {} of mates (-2): give as many",
            first.len(),
            second.len()
        ));
    }
    if first.iter().chain(&second).filter(|input| input.is_stdin()).count() > 1 {
        return Err(Error::from(merganser_io::Error::StdinTwice).into());
    }
    let mut second = second.into_iter();
    Ok(first.into_iter().map(|first| Reads { first, second: second.next() }).collect())
}

fn job(args: &MapArgs) -> Result<Job> {
    let config = Config {
        threshold: args.threshold.0,
        metric: args.metric(),
        strand: args.strand.into(),
        n_mode: args.n_mode.into(),
        filter: args.filter.into(),
        select: args.select(),
        max_hits: args.max_hits,
        insert: [args.min_insert, args.max_insert],
        crop: args.crop,
    };
    let bam = args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("bam"));
    Ok(Job {
        config,
        format: if bam { Format::Bam(args.level) } else { Format::Sam },
        group: args.read_group.as_deref().map(ReadGroup::parse).transpose()?,
        extended: args.eqx,
        keep_unmapped: !args.no_unmapped,
        threads: merganser_run::resolve_threads(args.resources.threads.map(usize::from)),
        memory: args.resources.memory.unwrap_or_else(merganser_run::default_budget),
        devices: Vec::new(),
        gpu_memory: args.device.gpu_memory,
    })
}

/// Bytes of reads from which on GPUs make up for their start, beside 16 cores.
const GPU_BREAK_EVEN: u64 = 1_000_000_000;
/// Bases of a reference from which on GPUs are faster at all: what is smaller lies in the caches of 16
/// cores (docs/benchmarks.md: 5 Mb, where they are slower, and 100 Mb).
const GPU_REFERENCE: u64 = 20_000_000;

/// Decides which GPUs map; `auto` takes those that have room for the index.
fn choose_devices(
    args: &MapArgs,
    job: &mut Job,
    index: &Index,
    inputs: &[Reads],
    console: &Console,
) -> Result<()> {
    let choice = &args.device.device;
    if *choice == DeviceChoice::Auto && index.bases() < GPU_REFERENCE {
        return Ok(());
    }
    let files: Vec<Input> = inputs
        .iter()
        .flat_map(|reads| [Some(reads.first.clone()), reads.second.clone()])
        .flatten()
        .collect();
    job.devices = devices::choose(choice, &files, GPU_BREAK_EVEN, console)?;
    if *choice == DeviceChoice::Auto && !job.devices.is_empty() {
        let memory = args.device.gpu_memory;
        if let Err(error) = merganser_map::check_devices(index, &job.config, &job.devices, memory) {
            console.info(format_args!("computing on the CPU: {error}"));
            job.devices.clear();
        }
    }
    Ok(())
}

/// Opens the index, or builds that of a reference.
fn open(args: &MapArgs, console: &Console, cancel: &Cancel) -> Result<Index> {
    let mut first = [0];
    // The first byte of an index is none of a text, nor of a compressed one.
    let regular = std::fs::metadata(&args.reference).is_ok_and(|at| at.is_file());
    let is_index = regular
        && File::open(&args.reference).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first[0] == 0x89;
    if is_index {
        return Ok(Index::open(&args.reference)?);
    }
    let input = Input::File(args.reference.clone());
    match index::build(&input, None, &args.resources, &args.device, console, cancel)? {
        Some(index) => Ok(index),
        None => usage("the index was not kept"),
    }
}
