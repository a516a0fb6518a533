//! `merganser filter`.

mod outputs;
mod page;
mod report;
mod summary;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_filter::{Error, Outcome, run_on_gpus_alone};
use merganser_io::Input;
use merganser_report::multiqc::Kind;
use merganser_run::Context;

use crate::args::FilterArgs;
use crate::common;
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::interrupt;
use crate::pages::Pages;
use outputs::Outputs;

/// A finished run, with what its reports need.
struct Finished<'r> {
    args: &'r FilterArgs,
    context: &'r Context,
    inputs: &'r [Input],
    outcome: &'r Outcome,
    started: Instant,
}

/// Decides the pairs and prints a summary.
pub(crate) fn run(args: &FilterArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    outputs::check(args)?;
    let (config, context) = (&args.config, context(args));
    config.validate()?;
    let inputs = args.reads.expand_files(&args.inputs).map_err(Error::from)?;
    let files = outputs::declared(args, &inputs);
    let set = files.check()?;
    if args.dry.dry_run {
        return dry_run(args, &inputs, &files, &context);
    }
    interrupt::cancel_on_interrupt();
    let Outputs { writer, json, pages } = Outputs::create(args, &set)?;
    // For tests of GPUs, which must decide all pairs that they can.
    let gpus_alone = std::env::var_os("MERGANSER_TEST_GPUS_ALONE").is_some();
    let filter = if gpus_alone { run_on_gpus_alone } else { merganser_filter::run_with };
    let outcome = filter(config, &inputs, writer, &context)?;
    let (context, outcome) = (&context, &outcome);
    let finished = Finished { args, context, inputs: &inputs, outcome, started };
    if Pages::is_wanted(&args.pages) {
        pages.write(Kind::Decisions, page::of(&finished))?;
    }
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit_last().map_err(Error::from)?;
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// Checks what a run needs, and prints what it would do.
fn dry_run(
    args: &FilterArgs,
    inputs: &[Input],
    files: &RunFiles,
    context: &Context,
) -> Result<ExitCode> {
    let mut dry = DryRun::new("filter", files, context)?;
    dry.job(merganser_filter::plan_run(&args.config, inputs, context)?)?;
    dry.pairs(inputs)?;
    dry.print()
}

fn context(args: &FilterArgs) -> Context {
    common::context(args.threads.number(), args.memory, None, Some(&args.device))
}
