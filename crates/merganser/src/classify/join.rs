//! `merganser classify join`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::partial::join;

use super::reports::Reports;
use crate::args::joins::ClassifyJoinArgs;
use crate::console::{self, Console};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{failure, interrupt, report};

/// Joins the results of the shards of a job.
pub(super) fn run(args: &ClassifyJoinArgs, console: &Console) -> Result<ExitCode> {
    check(args)?;
    let reports = Reports::paths(&args.reports, None);
    let files = RunFiles::new().read(&args.partials).read(&args.lines).read(&args.reports.bracken);
    let files = files.write(Holds::LINES, &args.database_report);
    let set = files.write(Holds::LINES, &args.output).write_each(reports).check()?;
    let mut reports = Reports::create(&args.reports, None, &set)?;
    let output = args.output.as_deref().map(|path| set.output(path)).transpose()?;
    let by_database = args.database_report.as_deref().map(|path| set.output(path)).transpose()?;
    let cancel = interrupt::cancel_on_interrupt();
    let joined = join(&args.partials, &cancel)?;
    if let Some(mut output) = by_database {
        joined.write_database_report(&mut output)?;
        output.finish()?;
    }
    if let Some(mut output) = output {
        joined.join_lines(&args.lines, &mut output, &cancel)?;
        output.finish()?;
    }
    reports.write_joined(&joined, &cancel)?;
    reports.into_outputs().try_for_each(|output| output.finish().map(drop))?;
    set.commit_last()?;
    if args.reports.report.is_some() {
        joined.warn(&console::warnings());
    }
    report::tell(&joined, args.partials.len(), console);
    Ok(ExitCode::SUCCESS)
}

/// Checks that there is an output, and that at most one output is stdout.
fn check(args: &ClassifyJoinArgs) -> Result<()> {
    if args.output.is_some() == args.lines.is_empty() {
        return failure::usage(
            "-o and --lines require each other: the lines of all reads, and of each shard",
        );
    }
    Reports::check(&args.reports, false)?;
    let reports = Reports::paths(&args.reports, None);
    let reports = reports.iter().map(|(_, path)| path);
    let outputs = args.output.iter().chain(&args.database_report);
    let outputs: Vec<&PathBuf> = outputs.chain(reports).collect();
    match outputs.iter().filter(|path| path.as_os_str() == "-").count() {
        _ if outputs.is_empty() => failure::usage(
            "nothing would be written: give -o and --lines, or --report or another report",
        ),
        0 | 1 => Ok(()),
        _ => failure::usage("only one output can be stdout"),
    }
}
