//! `merganser report mpa`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use anyhow::Result;
use merganser_taxreport::report::{KrakenReport, MpaTable};

use super::{SHOWN, check_inputs, warn_of_repeats};
use crate::args::report::ReportMpaArgs;
use crate::common::check_cells;
use crate::console;
use crate::failure::usage;
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
    warn_of_repeats(&args.reports, SHOWN);
    if let ([report], []) = (&args.reports[..], &args.sample_names[..]) {
        KrakenReport::read(report, &console::warnings())?.write_mpa(&mut output)?;
    } else {
        let mut table = MpaTable::default();
        let mut seen = HashMap::new();
        for (at, path) in args.reports.iter().enumerate() {
            let name = match args.sample_names.get(at) {
                Some(name) => OsStr::new(name),
                None => path.file_name().unwrap_or(OsStr::new("-")),
            };
            // A file that is given twice has a warning.
            if seen.insert(name, path).is_some_and(|before| before != path) {
                return usage(format!(
                    "two reports are named {}, which are the names of columns: give --sample-names",
                    name.display()
                ));
            }
            table.add(name.as_bytes(), &KrakenReport::read(path, &console::warnings())?);
        }
        table.write(&mut output)?;
    }
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
