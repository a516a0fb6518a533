//! `merganser index`.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{Input, expand_inputs};
use merganser_map::{Error, Index};
use merganser_run::{Context, counted, format_size, peak_rss};

use crate::args::map::IndexArgs;
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;

/// Builds an index, or checks one.
pub(crate) fn run(args: &IndexArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    let context = args.limits.context(&args.device);
    if args.verify {
        let cancel = interrupt::cancel_on_interrupt();
        let index = Index::open(&args.reference)?;
        index.check(context.threads, &cancel)?;
        console.info(format_args!(
            "{}: {} in {}, all checksums are correct",
            args.reference.display(),
            counted(index.bases(), "base"),
            counted(index.contigs().len() as u64, "contig")
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = args.output.as_deref() else { return usage("-o is missing") };
    if path.as_os_str() == "-" {
        return usage("an index cannot be written to stdout: give -o FILE");
    }
    let inputs = expand_inputs(std::slice::from_ref(&args.reference)).map_err(Error::from)?;
    let [input] = &inputs[..] else { return usage("give one file as the reference") };
    let files =
        RunFiles::new().lists([&args.reference]).inputs(&inputs).write(Holds::INDEX, [path]);
    let outputs = files.check()?;
    if args.dry.dry_run {
        return dry_run(args, input, &files, &context);
    }
    interrupt::cancel_on_interrupt();
    let file = outputs.file(path).map_err(Error::from)?;
    let topology = args.circular.clone().unwrap_or_default();
    let (index, _) = merganser_map::build_with(input, &topology, Some(file), &context)?;
    outputs.commit_last().map_err(Error::from)?;
    console.info(format_args!(
        "{}: {} in {}, {}, k = {}, {} on disk; {:.2} s, peak memory {}",
        path.display(),
        counted(index.bases(), "base"),
        counted(index.contigs().len() as u64, "contig"),
        counted(index.positions(), "position"),
        index.k(),
        format_size(index.bytes()),
        started.elapsed().as_secs_f64(),
        peak_rss().map_or_else(String::new, format_size)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Checks what building an index needs, and prints what would be done.
fn dry_run(
    args: &IndexArgs,
    input: &Input,
    files: &RunFiles,
    context: &Context,
) -> Result<ExitCode> {
    let mut dry = DryRun::new("index", files, context)?;
    dry.reference(input, args.circular.as_ref(), false)?;
    dry.print()
}
