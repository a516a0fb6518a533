//! `merganser report filter`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::report::{KrakenReport, ReportSelection};

use crate::args::report::ReportFilterArgs;
use crate::console::{self, Console};
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::taxa_by_name::taxids_in_report;

pub(super) fn run(args: &ReportFilterArgs, console: &Console) -> Result<ExitCode> {
    if args.given.first_of::<ReportSelection>(&[]).is_none() && args.taxid.is_empty() {
        return usage(
            "nothing to keep or drop: give --taxid, --rank, --min-reads or --min-percent",
        );
    }
    let mut selection = args.selection.clone();
    // Names are looked up in the report.
    selection.taxid = vec![0; args.taxid.len()];
    selection.validate()?;
    let outputs =
        RunFiles::new().read([&args.report]).write(Holds::LINES, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    let report = KrakenReport::read(&args.report, &console::warnings())?;
    selection.taxid = taxids_in_report(&args.taxid, &report, &args.report)?;
    let found = selection.apply(&report)?;
    if let Some(first) = found.missing.first() {
        let count = found.missing.len();
        console.warn(format_args!(
            "{}: {count} of the taxids are not in this report, first {first}",
            args.report.display()
        ));
    }
    if let Some(rank) = &selection.rank
        && !report.rows().iter().any(|row| row.has_rank(rank))
    {
        let path = args.report.display();
        console.warn(format_args!("{path}: no taxon of this report has rank {rank}"));
    }
    if found.without_minimizers {
        console.warn(
            "minimizers are left out: a report does not tell which minimizers the kept reads have",
        );
    }
    found.report.write(&mut output)?;
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
