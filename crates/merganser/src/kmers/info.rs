//! `merganser kmers info`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::Header;
use merganser_kmers::tables::{AnyTable, Description, Kind};
use serde_json::{Value, json};

use crate::args::kmers::InfoArgs;
use crate::{common, interrupt};

pub(super) fn run(args: &InfoArgs) -> Result<ExitCode> {
    interrupt::cancel_on_interrupt();
    let context = common::context(None, None, None, None);
    let table = AnyTable::open_piece(&args.table, !args.forward_only, &context)?;
    // This format has no checksums, and damaged records may be zeros: check that the header's numbers are correct.
    if matches!(table.description().kind, Kind::Kmc1 | Kind::Kmc2) {
        table.verify(&context)?;
    }
    let info = match &table.description().header {
        Some(header) => describe(header, table.description().kind, table.bytes()?),
        None => describe_foreign(table.description(), table.bytes()?),
    };
    let text = if args.json { format!("{info:#}\n") } else { aligned(&info) };
    common::print(text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(header: &Header, kind: Kind, bytes: u64) -> Value {
    let mut info = json!({
        "format": kind.name(),
        "k": header.k,
        "canonical": header.canonical,
        "min_count": header.min_count,
        "max_count": (header.max_count < u32::MAX).then_some(header.max_count),
        "min_quality": header.min_quality,
        "hpc": header.homopolymer_compressed,
        "only_given": header.only_given,
        "kmers": header.kmers,
        "occurrences": header.occurrences,
        "largest_count": header.largest_count,
        "saturated": header.saturated,
        "distinct_kmers": header.distinct_kmers,
        "total_kmers": header.total_kmers,
        "bytes": bytes,
    });
    if let Some(piece) = header.piece {
        info["piece"] = piece.to_string().into();
    }
    info
}

/// Describes a table of another format, which has fewer properties.
fn describe_foreign(table: &Description, bytes: u64) -> Value {
    json!({
        "format": table.kind.name(),
        "k": table.k,
        "canonical": table.canonical,
        "min_count": table.min_count,
        "max_count": (table.max_count < u32::MAX).then_some(table.max_count),
        "kmers": table.kmers,
        "bytes": bytes,
    })
}

/// Formats keys and values as aligned lines.
fn aligned(info: &Value) -> String {
    let fields = info.as_object().into_iter().flatten();
    let shown = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    fields.map(|(key, value)| format!("{key:<16}{}\n", shown(value))).collect()
}
