//! Reports in arguments.

use std::path::PathBuf;

use merganser_io::{FileKind, Input};
use pyo3::prelude::*;

use super::Report;
use crate::errors::{mistyped, wrong};

/// A report, or the path of one.
pub(super) enum Given<'py> {
    Report(Bound<'py, Report>),
    Path(PathBuf),
}

impl<'py> Given<'py> {
    /// Returns a report or a path that was given for an argument.
    pub(super) fn of(argument: &str, given: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
        if let Ok(report) = given.cast::<Report>() {
            return Ok(Given::Report(report.clone()));
        }
        let kind = given.get_type().name()?;
        let problem = format!("a report must be a Report, str or PathLike, not {kind}");
        given.extract().map(Given::Path).map_err(|_| mistyped(argument, problem))
    }

    /// Returns the items of a list of reports and paths.
    pub(super) fn all(reports: &Bound<'py, PyAny>) -> PyResult<Vec<Given<'py>>> {
        if reports.is_instance_of::<Report>() || reports.extract::<PathBuf>().is_ok() {
            return Err(mistyped("reports", "give a list of reports or of files"));
        }
        let all = reports.try_iter()?.map(|item| Given::of("reports", &item?));
        let all: Vec<Given<'py>> = all.collect::<PyResult<_>>()?;
        match all.is_empty() {
            true => Err(wrong(reports.py(), "reports", "give at least one report")),
            false => Ok(all),
        }
    }

    /// Returns the file that the report is read from.
    pub(super) fn input(&self) -> Option<Input> {
        match self {
            Given::Report(_) => None,
            Given::Path(path) => Some(Input::File(path.clone())),
        }
    }
}

/// Returns the paths if all are files of partial results.
pub(super) fn partial(reports: &[Given<'_>]) -> Option<Vec<PathBuf>> {
    let path = |given: &Given<'_>| match given {
        Given::Path(path) if FileKind::of_path(path) == Some(FileKind::Partial) => {
            Some(path.clone())
        }
        _ => None,
    };
    let paths = reports.iter().map(path).collect::<Option<Vec<_>>>();
    paths.filter(|paths| !paths.is_empty())
}
