//! `merganser report`: reports and plots from Kraken-style reports and from results of runs.

mod bracken;
mod filter;
mod html;
mod join;
mod krona;
mod merge;
mod mpa;
mod plot;
mod results;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::Input;
use merganser_run::counted;

use crate::args::ReportCommand;
use crate::common::check_cells;
use crate::console::{self, Console};
use crate::failure;
pub(crate) use join::tell;

pub(crate) fn run(command: &ReportCommand, console: &Console) -> Result<ExitCode> {
    match command {
        ReportCommand::Bracken(args) => bracken::run(args, console),
        ReportCommand::Merge(args) => merge::run(args, console),
        ReportCommand::Filter(args) => filter::run(args),
        ReportCommand::Mpa(args) => mpa::run(args),
        ReportCommand::Krona(args) => krona::run(args),
        ReportCommand::Html(args) => html::run(args),
        ReportCommand::Plot(args) => plot::run(args),
    }
}

/// Checks that stdin is given at most once, and that there are as many names as reports, if there are any names.
fn check_inputs(reports: &[PathBuf], names: &[String]) -> Result<()> {
    if reports.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(merganser_io::Error::StdinTwice.into());
    }
    if !names.is_empty() && names.len() != reports.len() {
        return failure::usage(format!(
            "--sample-names has {} for {}: give equal numbers",
            counted(names.len() as u64, "name"),
            counted(reports.len() as u64, "report")
        ));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(two) = sorted.array_windows().find(|[one, other]| one == other) {
        return failure::usage(format!("--sample-names has the name {} twice", two[0]));
    }
    check_cells(names)
}

/// Warns of reports that are given more than once, under any names; `effect` says what happens to them.
fn warn_of_repeats(reports: &[PathBuf], effect: &str) {
    let input = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::File(path.clone()),
    };
    let inputs: Vec<Input> = reports.iter().map(input).collect();
    merganser_io::warn_of_repeated(&inputs, effect, &console::warnings());
}

/// The effects of a report that is given twice, where reports are summed, and elsewhere.
const ADDED_UP: &str = "its reads count twice";
const SHOWN: &str = "its sample is shown twice";

/// Returns the sample's name from a report's path: without the folder, `.gz`, and the last suffix.
fn sample_of(report: &Path) -> OsString {
    let name = report.file_name().unwrap_or(OsStr::new("stdin"));
    let name = if name == "-" { OsStr::new("stdin") } else { name };
    let name = Path::new(name);
    let is_gz = name.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let plain = if is_gz { name.file_stem().map_or(name, Path::new) } else { name };
    plain.file_stem().unwrap_or(plain.as_os_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::sample_of;

    #[test]
    fn samples_are_named_by_their_reports() {
        for (report, sample) in [
            ("a.kreport", "a"),
            ("/x.y/s1.S.kreport.GZ", "s1.S"),
            ("plain", "plain"),
            (".hidden", ".hidden"),
            ("-", "stdin"),
        ] {
            assert_eq!(sample_of(report.as_ref()), sample);
        }
    }
}
