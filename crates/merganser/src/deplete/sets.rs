//! `merganser deplete index`, `union`, `diff`, `intersect` and `info`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use merganser_deplete::{Description, Error, Format, MinimizerSet, Params, describe, read, write};
use merganser_io::OutputSet;
use merganser_run::{Context, thousands};
use serde_json::json;

use crate::args::deplete::{DepleteIndexArgs, SetInfoArgs, SetsArgs};
use crate::args::map::LimitArgs;
use crate::common::{self, refuse_stdin_twice};
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;

pub(super) fn index(args: &DepleteIndexArgs, console: &Console) -> Result<ExitCode> {
    let params = Params::new(args.k, args.w)?;
    let context = context(&args.limits);
    let inputs = args.inputs.expand(&args.genomes).map_err(Error::from)?;
    refuse_stdin_twice(inputs.iter())?;
    let files =
        RunFiles::new().lists(&args.genomes).inputs(&inputs).write(Holds::HOST_SET, [&args.output]);
    let outputs = files.check()?;
    if args.dry.dry_run {
        let mut dry = DryRun::new("deplete index", &files, &context)?;
        dry.job(merganser_deplete::plan_build(params, &context)?)?;
        dry.genomes(&inputs)?;
        return dry.print();
    }
    interrupt::cancel_on_interrupt();
    let set = merganser_deplete::build(params, &inputs, &context);
    save(&set?, &args.output, context.threads, &outputs, console)
}

/// An operation on sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Union,
    Diff,
    Intersect,
}

pub(super) fn operation(
    operation: Operation,
    args: &SetsArgs,
    console: &Console,
) -> Result<ExitCode> {
    let context = context(&args.limits);
    let outputs =
        RunFiles::new().read(&args.sets).write(Holds::HOST_SET, [&args.output]).check()?;
    interrupt::cancel_on_interrupt();
    let mut result: Option<MinimizerSet> = None;
    for path in &args.sets {
        // The result so far; a union also needs room for the new result.
        let held = result.as_ref().map_or(0, MinimizerSet::bytes);
        let reserved = if matches!(operation, Operation::Union) { 2 * held } else { held };
        let next = read(path, &context, reserved)?;
        let Some(set) = &mut result else {
            result = Some(next);
            continue;
        };
        match operation {
            Operation::Union => set.unite(&next),
            Operation::Diff => set.subtract(&next),
            Operation::Intersect => set.intersect(&next),
        }
        .map_err(|error| match error {
            Error::Mixed(what) => Error::Mixed(format!("{}: {what}", path.display())),
            other => other,
        })?;
    }
    match result {
        Some(set) if set.is_empty() => {
            let what = match operation {
                Operation::Union => "the sets have no minimizers",
                Operation::Diff => "the first set has no minimizers that the others lack",
                Operation::Intersect => "the sets have no minimizers in common",
            };
            let problem = "the result would match no reads, and is not written";
            Err(Error::Empty(format!("{what}: {problem}")).into())
        }
        Some(set) => save(&set, &args.output, context.threads, &outputs, console),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn context(limits: &LimitArgs) -> Context {
    common::context(limits.threads.number(), limits.memory, None, None)
}

/// Writes a set and reports its size.
fn save(
    set: &MinimizerSet,
    path: &Path,
    threads: usize,
    outputs: &OutputSet,
    console: &Console,
) -> Result<ExitCode> {
    let file = outputs.file(path).map_err(Error::from)?;
    write(set, Format::of(path), threads, file)?;
    outputs.commit_last().map_err(Error::from)?;
    console.info(format_args!("{} minimizers", thousands(set.len() as u64)));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn info(args: &SetInfoArgs) -> Result<ExitCode> {
    let Description { format, params, count, bytes, .. } = describe(&args.set)?;
    let format = match format {
        Format::Mgd => "mgd",
        Format::Idx => "idx",
    };
    let (k, w) = (params.k(), params.w());
    let text = if args.json {
        let info = json!({ "format": format, "k": k, "w": w, "minimizers": count, "bytes": bytes });
        format!("{info:#}\n")
    } else {
        format!(
            "format      {format}\nk           {k}\nw           {w}\nminimizers  {count}\nbytes       {bytes}\n"
        )
    };
    common::print(text)?;
    Ok(ExitCode::SUCCESS)
}
