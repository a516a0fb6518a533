//! Estimates of Bracken as rows and as a report.

use std::path::Path;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use merganser_run::Warnings;
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::report::KrakenReport;
use pyo3::prelude::*;

use super::Report;
use crate::call;
use crate::columns::Columns;
use crate::errors::{OrRaise, malformed};
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
    if let Some(doubt) = estimate.doubt() {
        warnings.push(format!("{}: {doubt}", path.display()));
    }
    if estimate.notes().taxa == 0 {
        let level = level.code();
        warnings.push(format!(
            "no taxon of level {level} has {threshold} reads or more, so the table is empty"
        ));
    }
    call::warn(py, &warnings)?;
    let (mut table, mut text) = (Vec::new(), Vec::new());
    estimate.write_table(&mut table)?;
    estimate.write_report(&mut text)?;
    let rows = Table::default().of(&table);
    let rows = rows.ok_or_else(|| malformed(py, "Bracken's table is malformed", Some(path)))?;
    Ok((rows.rows()?, Report::of_text(py, &text)?))
}

/// The columns of Bracken's table.
#[derive(Default)]
struct Table {
    names: StringBuilder,
    taxids: UInt64Builder,
    levels: StringBuilder,
    numbers: [UInt64Builder; 3],
    fractions: Float64Builder,
}

impl Table {
    /// Parses the text of a table; `None` if it is malformed.
    fn of(mut self, text: &[u8]) -> Option<Columns> {
        for line in String::from_utf8_lossy(text).lines().skip(1) {
            let mut fields = line.split('\t');
            self.names.append_value(fields.next()?);
            self.taxids.append_value(fields.next()?.parse().ok()?);
            self.levels.append_value(fields.next()?);
            for numbers in &mut self.numbers {
                numbers.append_value(fields.next()?.parse().ok()?);
            }
            self.fractions.append_value(fields.next()?.parse().ok()?);
        }
        let [reads, added, estimated] = &mut self.numbers;
        let columns = Columns::new()
            .with("name", self.names.finish())
            .with("taxid", self.taxids.finish())
            .with("level", self.levels.finish())
            .with("reads", reads.finish())
            .with("added", added.finish())
            .with("estimated", estimated.finish());
        Some(columns.with("fraction", self.fractions.finish()))
    }
}
