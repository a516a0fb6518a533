//! `merganser report html`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use merganser_report::html;

use super::{SHOWN, check_inputs, results, warn_of_repeats};
use crate::args::report::ReportHtmlArgs;
use crate::files::RunFiles;
use crate::holds::Holds;

pub(super) fn run(args: &ReportHtmlArgs) -> Result<ExitCode> {
    check_inputs(&args.results, &[])?;
    let outputs = RunFiles::new().read(&args.results).write(Holds::PAGE, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    warn_of_repeats(&args.results, SHOWN);
    let page = html::page(&results::read(&args.results)?).map_err(|why| anyhow!("{why}"))?;
    output.write_all(page.as_bytes())?;
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
