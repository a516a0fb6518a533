//! `merganser map`.

mod report;
mod summary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_io::{Input, Segment};
use merganser_map::{Config, Error, Format, Index, Job, Outcome, Outputs, ReadGroup, Strand};
use merganser_run::{Cancel, DeviceChoice};

use crate::args::map::MapArgs;
use crate::common::{hint_at_mates, pairs, refuse_stdin_twice};
use crate::console::Console;
use crate::failure::{self, usage};
use crate::files::RunFiles;
use crate::progress::Bar;
use crate::{devices, index, interrupt};

/// A finished run, as the reports need it.
struct Finished<'r> {
    args: &'r MapArgs,
    job: &'r Job,
    inputs: &'r [Segment],
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
    refuse_swapped(args, &inputs)?;
    let singles = inputs.iter().filter_map(|segment| match segment {
        Segment::Single(reads) => Some(reads),
        _ => None,
    });
    hint_at_mates(singles, "mapped", |one, two| format!("-1 {one} -2 {two}"), console);
    let set = files(args, &inputs).check()?;
    let cancel = interrupt::cancel_on_interrupt();
    let open = |path: &Option<PathBuf>| path.as_deref().map(|path| set.output(path)).transpose();
    let opened = Outputs {
        records: set.output(&args.output).map_err(Error::from)?,
        unmapped: open(&args.unmapped).map_err(Error::from)?,
    };
    let json = open(&args.json).map_err(Error::from)?;
    let index = open_index(args, console, &cancel)?;
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
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit().map_err(Error::from)?;
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// What is read and written.
fn files(args: &MapArgs, inputs: &[Segment]) -> RunFiles {
    let files = RunFiles::new().inputs(inputs.iter().flat_map(Segment::inputs));
    let files = files.lists(&args.reads).lists(&args.mates1).lists(&args.mates);
    let files = files.read([&args.reference]);
    files.write([&args.output]).write(&args.unmapped).write(&args.json)
}

/// What clap cannot say of options that do not go together.
fn check(args: &MapArgs) -> Result<()> {
    let stdout = |path: &Path| path.as_os_str() == "-";
    let outputs = [Some(&args.output), args.unmapped.as_ref(), args.json.as_ref()];
    if outputs.into_iter().flatten().filter(|path| stdout(path)).count() > 1 {
        return usage("only one of -o (default -), --unmapped and --json can be stdout");
    }
    if has_end(&args.output, "cram") {
        let bam = args.output.with_extension("bam");
        return usage(format!(
            "{cram}: map writes BAM and SAM, no CRAM: give -o {bam}, then `samtools view -C -T \
             REFERENCE.fa -o {cram} {bam}`",
            cram = args.output.display(),
            bam = bam.display()
        ));
    }
    if args.interleaved && args.mates1.is_empty() && !args.mates.is_empty() {
        return usage("--interleaved and -2 without -1 exclude each other: READS hold both mates");
    }
    let paired = args.interleaved || !args.mates.is_empty();
    if paired && Strand::from(args.strand) != Strand::Both {
        return usage("--strand and pairs exclude each other: mates lie on both strands");
    }
    Ok(())
}

/// Whether a file's name ends in `.end`, in either case.
fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(end))
}

/// An index among the reads means that the reference was given last.
fn refuse_swapped(args: &MapArgs, inputs: &[Segment]) -> Result<()> {
    let files = inputs.iter().flat_map(Segment::inputs).filter_map(Input::path);
    let Some(index) = files.into_iter().find(|path| is_index(path)) else { return Ok(()) };
    usage(format!(
        "{index}: is an index, not reads: the reference comes first, then the reads: merganser map \
         {index} {reads}",
        index = index.display(),
        reads = args.reference.display()
    ))
}

/// Pairs, then READS.
fn inputs(args: &MapArgs) -> Result<Vec<Segment>> {
    let [first, second, reads] = [&args.mates1, &args.mates, &args.reads]
        .map(|paths| args.inputs.expand(paths).map_err(Error::from));
    let (mut first, second, mut reads) = (first?, second?, reads?);
    if first.is_empty() && !second.is_empty() {
        if reads.len() != second.len() {
            return usage(format!(
                "there are {} files of reads and {} of mates (-2): give as many",
                reads.len(),
                second.len()
            ));
        }
        std::mem::swap(&mut first, &mut reads);
    }
    let mut segments = pairs(first, second)?;
    let kind = if args.interleaved { Segment::Interleaved } else { Segment::Single };
    segments.extend(reads.into_iter().map(kind));
    refuse_stdin_twice(segments.iter().flat_map(Segment::inputs))?;
    Ok(segments)
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
    let bam = has_end(&args.output, "bam");
    Ok(Job {
        config,
        format: if bam { Format::Bam(args.level) } else { Format::Sam },
        group: args.read_group.as_deref().map(ReadGroup::parse).transpose()?,
        extended: args.eqx,
        keep_unmapped: !args.no_unmapped,
        threads: merganser_run::resolve_threads(args.resources.threads.number()),
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
    inputs: &[Segment],
    console: &Console,
) -> Result<()> {
    let choice = &args.device.device;
    if *choice == DeviceChoice::Auto && index.bases() < GPU_REFERENCE {
        return Ok(());
    }
    let files: Vec<Input> = inputs.iter().flat_map(Segment::inputs).cloned().collect();
    job.devices = devices::choose(choice, &files, GPU_BREAK_EVEN, console)?;
    if *choice == DeviceChoice::Auto && !job.devices.is_empty() {
        let memory = args.device.gpu_memory;
        if let Err(error) = merganser_map::check_devices(index, &job.config, &job.devices, memory) {
            let why = failure::with_flags(&error.to_string());
            console.info(format_args!("computing on the CPU: {why}"));
            job.devices.clear();
        }
    }
    Ok(())
}

/// Opens the index, or builds that of a reference.
fn open_index(args: &MapArgs, console: &Console, cancel: &Cancel) -> Result<Index> {
    if is_index(&args.reference) {
        let index = Index::open(&args.reference)?;
        // Before devices are chosen by what it holds.
        index.check(merganser_run::resolve_threads(args.resources.threads.number()), cancel)?;
        return Ok(index);
    }
    let input = Input::File(args.reference.clone());
    index::build(&input, None, &args.resources, &args.device, console, cancel)
}

/// Whether a file is an index by its first byte, which is none of a text, nor of a compressed one.
fn is_index(path: &Path) -> bool {
    let mut first = [0];
    let regular = std::fs::metadata(path).is_ok_and(|at| at.is_file());
    regular
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first[0] == 0x89
}
