//! `merganser report krona`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::report::KrakenReport;

use super::{check_inputs, sample_of};
use crate::args::report::ReportKronaArgs;
use crate::console;
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::samples::{has_place_for_sample, of_sample};

pub(super) fn run(args: &ReportKronaArgs) -> Result<ExitCode> {
    check_inputs(&args.reports, &[])?;
    if args.reports.len() > 1 && !has_place_for_sample(&args.output) {
        return failure::usage(
            "each report needs its own output: put {} for the sample's name into that of -o",
        );
    }
    let paths: Vec<_> =
        args.reports.iter().map(|path| of_sample(&args.output, Some(&sample_of(path)))).collect();
    let outputs = RunFiles::new().read(&args.reports).write(Holds::LINES, &paths).check()?;
    for (report, path) in args.reports.iter().zip(&paths) {
        let report = KrakenReport::read(report, &console::warnings())?;
        let mut output = outputs.output(path)?;
        report.write_krona(&mut output)?;
        output.finish()?;
    }
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
