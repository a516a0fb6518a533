//! `merganser kmers info`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use merganser_count::{Error, Header, Table};
use serde_json::{Value, json};

use crate::args::kmers::InfoArgs;

pub(super) fn run(args: &InfoArgs) -> Result<ExitCode> {
    let table = Table::open(&args.table)?;
    let info = describe(table.header(), size(&args.table)?);
    let text = if args.json { format!("{info:#}\n") } else { aligned(&info) };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn size(path: &Path) -> Result<u64, Error> {
    let at = |source| Error::File { path: path.to_owned(), source };
    Ok(fs::metadata(path).map_err(at)?.len())
}

fn describe(header: &Header, bytes: u64) -> Value {
    json!({
        "k": header.k,
        "canonical": header.canonical,
        "min_count": header.min_count,
        "max_count": (header.max_count < u32::MAX).then_some(header.max_count),
        "min_quality": header.min_quality,
        "kmers": header.kmers,
        "occurrences": header.occurrences,
        "largest_count": header.largest_count,
        "saturated": header.saturated,
        "distinct_kmers": header.distinct_kmers,
        "total_kmers": header.total_kmers,
        "bytes": bytes,
    })
}

/// The same keys and values as lines.
fn aligned(info: &Value) -> String {
    let fields = info.as_object().into_iter().flatten();
    let shown = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    };
    fields.map(|(key, value)| format!("{key:<16}{}\n", shown(value))).collect()
}
