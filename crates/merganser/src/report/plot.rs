//! `merganser report plot`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::OutputFormat;
use merganser_report::plot::{Options, plot};
use merganser_taxreport::report::rank_code;

use super::{SHOWN, check_inputs, results, warn_of_repeats};
use crate::args::report::ReportPlotArgs;
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages::drawn;

pub(super) fn run(args: &ReportPlotArgs) -> Result<ExitCode> {
    check_inputs(&args.results, &[])?;
    if OutputFormat::of_name(&args.output).is_none() {
        return failure::usage(format!(
            "-o {}: end the name in .svg, .png or .pdf to choose the format",
            args.output.display()
        ));
    }
    let rank = match rank_code(&args.options.rank) {
        Ok(rank) => rank,
        Err(remedy) => return failure::usage(format!("--rank {}: {remedy}", args.options.rank)),
    };
    let options = Options { rank, ..args.options.clone() };
    let outputs =
        RunFiles::new().read(&args.results).write(Holds::PICTURE, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    warn_of_repeats(&args.results, SHOWN);
    let picture = plot(&results::read(&args.results)?, args.chart, &options)?;
    output.write_all(&drawn(&picture, &args.output, args.dpi)?)?;
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
