//! Names and codes of ranks.

use merganser_taxonomy::Rank;
use merganser_taxreport::report::{ReportRow, rank_code};
use pyo3::prelude::*;

use crate::errors::wrong;

/// Returns the rank of a row; `None` if its code is not that of a main rank.
pub(super) fn name(row: &ReportRow) -> Option<&'static str> {
    let letter = row.letter()?;
    Rank::all().find(|rank| rank.letter() == Some(letter)).map(Rank::name)
}

/// Returns the code of a rank that is given as a code or a name.
pub(super) fn code(py: Python<'_>, argument: &str, given: &str) -> PyResult<String> {
    rank_code(given)
        .map_err(|remedy| wrong(py, argument, format!("'{given}' is unknown: {remedy}")))
}
