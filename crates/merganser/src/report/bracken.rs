//! `merganser report bracken`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::bracken::{Distribution, Estimate};
use merganser_taxreport::report::KrakenReport;

use crate::args::report::ReportBrackenArgs;
use crate::console::{self, Console};
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;
use merganser_run::thousands;

pub(super) fn run(args: &ReportBrackenArgs, console: &Console) -> Result<ExitCode> {
    let paths = || std::iter::once(&args.output).chain(&args.out_report);
    if paths().filter(|path| path.as_os_str() == "-").count() > 1 {
        return failure::usage("only one output can be stdout, which is the default of -o");
    }
    let inputs = [&args.report, &args.distribution].into_iter().chain(&args.bases);
    let outputs = RunFiles::new().read(inputs).write(Holds::LINES, paths()).check()?;
    let distribution = Distribution::read(&args.distribution)?;
    let report = KrakenReport::read(&args.report, &console::warnings())?;
    let bases = args.bases.as_ref().map(|path| KrakenReport::read(path, &console::warnings()));
    let estimate = match bases.transpose()? {
        Some(bases) => {
            Estimate::with_bases(&report, &bases, &distribution, &args.level, args.threshold)?
        }
        None => Estimate::new(&report, &distribution, &args.level, args.threshold)?,
    };
    let mut table = outputs.output(&args.output)?;
    estimate.write_table(&mut table)?;
    table.finish()?;
    if let Some(path) = &args.out_report {
        let mut output = outputs.output(path)?;
        estimate.write_report(&mut output)?;
        output.finish()?;
    }
    outputs.commit_last()?;
    estimate.warn(Some(&args.report), &args.distribution, &console::warnings());
    tell(args, &estimate, console);
    Ok(ExitCode::SUCCESS)
}

fn tell(args: &ReportBrackenArgs, estimate: &Estimate<'_>, console: &Console) {
    let (notes, level) = (estimate.notes(), &args.level);
    console.info(format_args!(
        "{} taxa of level {level}, to which {} reads of higher taxa were distributed, {} not; {} \
         taxa with {} reads were left out",
        thousands(notes.taxa),
        thousands(notes.distributed),
        thousands(notes.not_distributed),
        thousands(notes.left_out),
        thousands(notes.left_out_reads)
    ));
}
