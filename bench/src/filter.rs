//! `merganser-bench filter`: the filter's methods beside edlib.

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
    /// Nanoseconds a pair of each method from packed pairs in memory, and of edlib; pairs a second
    /// from a file
    Speed(speed::Args),
    /// What each method gets wrong on generated and real pairs, by edlib's distances
    Accuracy(accuracy::Args),
}

/// Runs a `filter` command; the report goes to stdout as Markdown.
///
/// # Errors
/// If edlib cannot be built or a file not be read; after the report, if a method that must be right
/// is wrong.
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

/// Pairs of a batch, as `merganser filter` decides at a time.
const BATCH: usize = 4096;

/// All pairs of a text, packed.
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

/// Decides all pairs; hands each batch's decisions to `seen`.
fn decide(
    filter: &Filter,
    batches: &[PairBatch<'_>],
    scratch: &mut Scratch,
    mut seen: impl FnMut(&[i32]),
) {
    let mut decisions = Vec::new();
    for batch in batches {
        filter.run_into(batch, scratch, &mut decisions);
        seen(&decisions);
    }
}
