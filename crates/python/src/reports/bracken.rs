//! Estimates of Bracken as rows and as a report.

use std::path::Path;

use arrow_array::{Float64Array, StringArray, UInt64Array};
use merganser_run::Warnings;
use merganser_taxreport::bracken::{Distribution, Estimate, EstimateRow, Level};
use merganser_taxreport::report::KrakenReport;
use pyo3::prelude::*;

use super::Report;
use crate::call;
use crate::columns::Columns;
use crate::errors::OrRaise;
use crate::rows::Rows;

/// Returns the table and the report of an estimate.
pub(super) fn estimated(
    py: Python<'_>,
    report: &KrakenReport,
    (shares, path): (&Distribution, &Path),
    level: &Level,
    threshold: u64,
) -> PyResult<(Rows, Report)> {
    let estimate = Estimate::new(report, shares, level, threshold).or_raise(py)?;
    let warnings = Warnings::default();
    estimate.warn(None, path, &warnings);
    call::warn(py, &warnings)?;
    let mut text = Vec::new();
    estimate.write_report(&mut text)?;
    Ok((table(&estimate, level)?, Report::of_text(py, &text)?))
}

/// Returns the columns of Bracken's table.
fn table(estimate: &Estimate<'_>, level: &Level) -> PyResult<Rows> {
    let rows: Vec<EstimateRow<'_>> = estimate.rows().collect();
    let numbers = |number: fn(&EstimateRow<'_>) -> u64| {
        UInt64Array::from_iter_values(rows.iter().map(number))
    };
    let names = rows.iter().map(|row| String::from_utf8_lossy(row.name));
    // Five decimals, as in the file.
    let fraction = |row: &EstimateRow<'_>| {
        let fraction = row.reads.fraction;
        format!("{fraction:.5}").parse().unwrap_or(fraction)
    };
    let columns = Columns::new()
        .with("name", StringArray::from_iter_values(names))
        .with("taxid", numbers(|row| row.taxid))
        .with("level", StringArray::from_iter_values(rows.iter().map(|_| level.code())))
        .with("reads", numbers(|row| row.reads.before))
        .with("added", numbers(|row| row.reads.after - row.reads.before))
        .with("estimated", numbers(|row| row.reads.after));
    columns.with("fraction", Float64Array::from_iter_values(rows.iter().map(fraction))).rows()
}
