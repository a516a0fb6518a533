//! `merganser report merge`.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::partial::read_report;
use merganser_io::Output;
use merganser_taxreport::report::{CombinedReports, CombinedTable};

use super::{ADDED_UP, check_inputs, join, warn_of_repeats};
use crate::args::report::{MergedFormat, ReportMergeArgs};
use crate::common::check_cells;
use crate::console::{self, Console};
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;

pub(super) fn run(args: &ReportMergeArgs, console: &Console) -> Result<ExitCode> {
    check_inputs(&args.reports, &args.sample_names)?;
    if args.format == MergedFormat::Table {
        check_cells(&args.reports)?;
    }
    let of_table = args.no_headers || args.only_combined || !args.sample_names.is_empty();
    if args.format != MergedFormat::Table && of_table {
        return usage(
            "--no-headers, --only-combined and --sample-names can only be used with --format table",
        );
    }
    let are_partial = join::are_partial(args)?;
    join::check(args, are_partial)?;
    let outputs =
        RunFiles::new().read(&args.reports).write(Holds::LINES, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    if are_partial && args.format != MergedFormat::Table {
        // Joining refuses results that are given twice.
        join::write(args, &mut output, console)?;
    } else {
        warn_of_repeats(&args.reports, ADDED_UP);
        write(args, &mut output)?;
    }
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}

/// Combines all reports and writes them.
fn write(args: &ReportMergeArgs, output: &mut Output) -> Result<()> {
    let warnings = console::warnings();
    let mut combined = CombinedReports::default();
    for path in &args.reports {
        combined.add(path, &read_report(path, &warnings)?)?;
    }
    combined.warn(&warnings);
    match args.format {
        MergedFormat::Table => {
            let head = (!args.no_headers).then(|| head(args));
            let table = CombinedTable { head: head.as_deref(), samples: !args.only_combined };
            combined.write_table(&table, output)?;
        }
        _ => {
            combined.warn_of_minimizers(&warnings);
            combined.report().write(output)?;
        }
    }
    Ok(())
}

/// Returns the samples' names and files.
fn head(args: &ReportMergeArgs) -> Vec<(Vec<u8>, Vec<u8>)> {
    let names = |at: usize| {
        let given = args.sample_names.get(at).cloned();
        given.unwrap_or_else(|| format!("S{}", at + 1)).into_bytes()
    };
    let files = args.reports.iter().map(|path| path.as_os_str().as_bytes().to_vec());
    files.enumerate().map(|(at, file)| (names(at), file)).collect()
}
