//! `merganser index`.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{AtomicFile, Input, expand_inputs};
use merganser_map::{Building, Error, Index};
use merganser_run::{Cancel, format_size, peak_rss};

use crate::args::device::DeviceArgs;
use crate::args::map::{IndexArgs, Resources};
use crate::common::thousands;
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::progress::Bar;
use crate::{devices, interrupt};

/// Builds an index, or checks one.
pub(crate) fn run(args: &IndexArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if args.verify {
        let cancel = interrupt::cancel_on_interrupt();
        let index = Index::open(&args.reference)?;
        let threads = merganser_run::resolve_threads(args.resources.threads.number());
        index.check(threads, &cancel)?;
        console.info(format_args!(
            "{}: {} bases in {} contigs, all checksums are right",
            args.reference.display(),
            thousands(index.bases()),
            thousands(index.contigs().len() as u64)
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = args.output.as_deref() else { return usage("-o is missing") };
    if path.as_os_str() == "-" {
        return usage("-o - is not possible: an index is mapped from a file; name one");
    }
    let inputs = expand_inputs(std::slice::from_ref(&args.reference)).map_err(Error::from)?;
    let [input] = &inputs[..] else { return usage("give one file as the reference") };
    let outputs = RunFiles::new().lists([&args.reference]).inputs(&inputs).write([path]).check()?;
    let cancel = interrupt::cancel_on_interrupt();
    let file = outputs.file(path).map_err(Error::from)?;
    let index = build(input, Some(file), &args.resources, &args.device, console, &cancel)?;
    outputs.commit().map_err(Error::from)?;
    console.info(format_args!(
        "{}: {} bases in {} contigs, {} positions, k = {}, {} on disk; {:.2} s, peak memory {}",
        path.display(),
        thousands(index.bases()),
        thousands(index.contigs().len() as u64),
        thousands(index.positions()),
        index.k(),
        format_size(index.bytes()),
        started.elapsed().as_secs_f64(),
        peak_rss().map_or_else(String::new, format_size)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Bytes of FASTA from which on a GPU makes up for its start, beside 16 cores.
const GPU_BREAK_EVEN: u64 = 200_000_000;

/// Builds the index of a FASTA file, in memory or as a file; on the first of the GPUs if there are
/// several.
pub(crate) fn build(
    input: &Input,
    output: Option<AtomicFile>,
    resources: &Resources,
    device: &DeviceArgs,
    console: &Console,
    cancel: &Cancel,
) -> Result<Index> {
    let threads = merganser_run::resolve_threads(resources.threads.number());
    let memory = resources.memory.unwrap_or_else(merganser_run::default_budget);
    let inputs = std::slice::from_ref(input);
    let gpus = devices::choose(&device.device, inputs, GPU_BREAK_EVEN, console)?;
    let gpu_memory = device.gpu_memory;
    let how = Building { threads, memory, device: gpus.first().copied(), gpu_memory };
    let bar = Bar::new(console);
    let reference = merganser_map::load(input, &bar, cancel)?;
    let built = merganser_map::build(reference, &how, output, &bar, cancel);
    drop(bar);
    Ok(built?)
}
