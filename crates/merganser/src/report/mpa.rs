//! `merganser report mpa`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::report::{KrakenReport, MpaTable};

use super::check_inputs;
use crate::args::report::ReportMpaArgs;
use crate::common::check_cells;
use crate::console;
use crate::files::RunFiles;
use crate::holds::Holds;

pub(super) fn run(args: &ReportMpaArgs) -> Result<ExitCode> {
    check_inputs(&args.reports, &args.sample_names)?;
    if args.reports.len() > 1 && args.sample_names.is_empty() {
        check_cells(args.reports.iter().filter_map(|path| path.file_name()))?;
    }
    let outputs =
        RunFiles::new().read(&args.reports).write(Holds::LINES, [&args.output]).check()?;
    let mut output = outputs.output(&args.output)?;
    if let ([report], []) = (&args.reports[..], &args.sample_names[..]) {
        KrakenReport::read(report, &console::warnings())?.write_mpa(&mut output)?;
    } else {
        let mut table = MpaTable::default();
        for (at, path) in args.reports.iter().enumerate() {
            let name = match args.sample_names.get(at) {
                Some(name) => name.as_bytes(),
                None => path.file_name().map_or(&b"-"[..], OsStr::as_bytes),
            };
            table.add(name, &KrakenReport::read(path, &console::warnings())?);
        }
        table.write(&mut output)?;
    }
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
