//! HTML for notebooks.

use std::fmt::Write;

use arrow_array::RecordBatch;
use pyo3::prelude::*;

use crate::column::values;

/// The number of rows that are shown.
pub(crate) const SHOWN: usize = 10;

/// Returns a text with the characters escaped that have a meaning in HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns an HTML table with a caption and the first rows of `rows`, which are the beginning of `total` rows. A last
/// row of dots shows that there are more.
pub(crate) fn table(
    py: Python<'_>,
    caption: &str,
    rows: &RecordBatch,
    total: u64,
) -> PyResult<String> {
    let shown = rows.slice(0, rows.num_rows().min(SHOWN));
    let mut html = format!("<table><caption>{}</caption><thead><tr>", escaped(caption));
    for field in shown.schema().fields() {
        let _ = write!(html, "<th>{}</th>", escaped(field.name()));
    }
    html += "</tr></thead><tbody>";
    let columns = shown.columns().iter().map(|column| values(py, column));
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    for row in 0..shown.num_rows() {
        html += "<tr>";
        for column in &columns {
            let value = column.get_item(row)?;
            let text = if value.is_none() { String::new() } else { value.str()?.to_string() };
            let _ = write!(html, "<td>{}</td>", escaped(&text));
        }
        html += "</tr>";
    }
    if total > shown.num_rows() as u64 {
        html += "<tr>";
        html += &"<td>…</td>".repeat(columns.len());
        html += "</tr>";
    }
    Ok(html + "</tbody></table>")
}

/// Returns an HTML table of names and values with a caption, the summary of an object.
pub(crate) fn summary(caption: &str, values: &[(&str, String)]) -> String {
    let mut html = format!("<table><caption>{}</caption><tbody>", escaped(caption));
    for (name, value) in values {
        let _ = write!(html, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value));
    }
    html + "</tbody></table>"
}
