//! Names and codes of ranks.

use merganser_taxonomy::Rank;
use merganser_taxreport::report::ReportRow;
use pyo3::prelude::*;

use crate::errors::wrong;

/// Returns the rank of a row; `None` if its code is not that of a main rank.
pub(super) fn name(row: &ReportRow) -> Option<&'static str> {
    let letter = row.letter()?;
    Rank::all().find(|rank| rank.letter() == Some(letter)).map(Rank::name)
}

/// Returns the code of a rank that is given as a code or a name.
pub(super) fn code(py: Python<'_>, argument: &str, given: &str) -> PyResult<String> {
    if let Some(letter) = Rank::named(given).and_then(Rank::letter) {
        return Ok(letter.to_string());
    }
    let (letter, steps) = given.split_at_checked(1).unwrap_or_default();
    let is_code = "URDKPCOFGS".contains(letter) && !letter.is_empty();
    if is_code && steps.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(given.to_owned());
    }
    let problem = "is unknown: give a name, such as species or genus, or a code: R, D, K, P, C, O, F, G, S, or S1";
    Err(wrong(py, argument, format!("'{given}' {problem}")))
}
