//! `merganser-bench filter`: the methods of the filter compared with edlib.

mod accuracy;
mod edlib;
mod sassy;
mod semi_global;
mod speed;

use anyhow::Result;
use merganser_filter::{Filter, Method, PairBatch, Scratch};

/// `merganser-bench filter …`
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Measure each method and edlib: nanoseconds per pair for packed pairs in memory, pairs per second for a file
    Speed(speed::Args),
    /// Count wrong decisions of each method on generated and real pairs, by edlib's distances
    Accuracy(accuracy::Args),
}

/// Runs a `filter` command; the report is written to stdout as Markdown.
///
/// # Errors
/// If edlib cannot be built or a file cannot be read; after the report, if an exact method is wrong.
pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Speed(args) => speed::run(args),
        Command::Accuracy(args) => accuracy::run(args),
    }
}

/// The methods with their names.
const METHODS: [(Method, &str); 4] = [
    (Method::Exact, "exact"),
    (Method::GateKeeper, "gatekeeper"),
    (Method::Snake, "snake"),
    (Method::GateKeeperOriginal, "gatekeeper-original"),
];

/// Number of pairs per batch, as in `merganser filter`.
const BATCH: usize = 4096;

/// Packs all pairs of a text into batches.
fn pack(text: &[u8]) -> Result<Vec<PairBatch<'static>>> {
    let mut batches = vec![PairBatch::new()];
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let mut columns = line.split(|&byte| byte == b'\t');
        let (read, segment) = (columns.next().unwrap_or(b""), columns.next().unwrap_or(b""));
        if batches.last().is_none_or(|batch| batch.len() == BATCH) {
            batches.push(PairBatch::new());
        }
        if let Some(batch) = batches.last_mut() {
            batch.push(read, segment)?;
        }
    }
    Ok(batches)
}

/// Decides all pairs and passes the decisions of each batch to `seen`.
fn decide(
    filter: &Filter,
    batches: &[PairBatch<'_>],
    scratch: &mut Scratch,
    mut seen: impl FnMut(&[i32]),
) {
    let mut decisions = Vec::new();
    for batch in batches {
        filter.run_codes(batch, scratch, &mut decisions);
        seen(&decisions);
    }
}
