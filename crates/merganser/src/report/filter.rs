//! `merganser report filter`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::report::{KrakenReport, ReportSelection};

use crate::args::report::ReportFilterArgs;
use crate::console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::taxa_by_name::taxids_in_report;

pub(super) fn run(args: &ReportFilterArgs) -> Result<ExitCode> {
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
    found.warn(Some(&args.report), &console::warnings());
    found.report.write(&mut output)?;
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
