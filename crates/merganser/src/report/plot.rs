//! `merganser report plot`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::OutputFormat;
use merganser_report::plot::{Chart, Options, plot};

use super::{SHOWN, check_inputs, results, warn_of_repeats};
use crate::args::report::{ChartName, ReportPlotArgs};
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages::drawn;

pub(super) fn run(args: &ReportPlotArgs) -> Result<ExitCode> {
    check_inputs(&args.results, &[])?;
    if OutputFormat::of_name(&args.output).is_none() {
        return failure::usage(format!(
            "-o {}: end the name in .svg, .png or .pdf, which says the format",
            args.output.display()
        ));
    }
    let outputs =
        RunFiles::new().read(&args.results).write(Holds::PICTURE, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    warn_of_repeats(&args.results, SHOWN);
    let picture = plot(&results::read(&args.results)?, chart(args.chart), &options(args))?;
    output.write_all(&drawn(&picture, &args.output, args.dpi)?)?;
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &ReportPlotArgs) -> Options {
    let mut options = Options::default();
    (options.log_x, options.log_y, options.most) = (args.log_x, args.log_y, args.most);
    options.rank.clone_from(&args.rank);
    options.spectrum.clone_from(&args.spectrum);
    options
}

fn chart(name: ChartName) -> Chart {
    match name {
        ChartName::Spectrum => Chart::Spectrum,
        ChartName::Taxa => Chart::Taxa,
        ChartName::Evidence => Chart::Evidence,
        ChartName::Spectra => Chart::Spectra,
        ChartName::Quality => Chart::Quality,
        ChartName::Blobs => Chart::Blobs,
        ChartName::Blocks => Chart::Blocks,
        ChartName::Hits => Chart::Hits,
        ChartName::Edits => Chart::Edits,
        ChartName::Inserts => Chart::Inserts,
        ChartName::Depth => Chart::Depth,
    }
}
