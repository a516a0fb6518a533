//! Wrong decisions of each method, by edlib's distances.

use super::edlib::Edlib;
use super::{METHODS, decide, pack};
use crate::count::say;
use crate::generate::pairs::{Kind, Set};
use anyhow::{Context, Result, ensure};
use merganser_filter::{Config, Filter, Method, PairBatch, Scratch, Threshold};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// `merganser-bench filter accuracy …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pairs per generated set
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    pairs: u64,
    /// Files of pairs (TSV, plain or .gz) in addition to the generated ones
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::Mixed, "mixed"),
    (Kind::Indels, "indels only"),
    (Kind::Repeats, "repeats"),
    (Kind::N, "N"),
];

/// Numbers of wrong decisions of a method.
#[derive(Clone, Copy, Default)]
struct Wrong {
    accepts: u64,
    rejects: u64,
}

/// Prints a table per set.
///
/// # Errors
/// If a method that must not reject pairs falsely does, or a file cannot be read.
pub(crate) fn run(args: &Args) -> Result<()> {
    let edlib = Edlib::build()?;
    for file in &args.files {
        let name = file.file_name().unwrap_or_default().display().to_string();
        table(&name, &read(file)?, &edlib)?;
    }
    for length in [100, 150, 250, 300] {
        for (kind, name) in KINDS {
            let max_edits = length * 3 / 10;
            let set = Set { length, spare: 0, pairs: args.pairs, max_edits, seed: 5, kind };
            table(&format!("generated, {length} bases, {name}"), &set.text(), &edlib)?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text)?;
    Ok(text)
}

fn table(name: &str, text: &[u8], edlib: &Edlib) -> Result<()> {
    let truth = edlib.run_text(text, -1)?.distances;
    let batches = pack(text)?;
    let length = text.iter().position(|&byte| byte == b'\t').unwrap_or(0);
    say(&format!("\n### {name}: {} pairs\n\n", truth.len()))?;
    say(
        "| e | within e | gatekeeper | snake | gatekeeper-original | its false rejects |\n|---:|---:|---:|---:|---:|---:|\n",
    )?;
    let mut thresholds: Vec<u32> =
        (0..=10).map(|percent| (length * percent / 100) as u32).collect();
    thresholds.dedup();
    for e in thresholds {
        let within = truth.iter().filter(|&&distance| distance <= e as i32).count();
        let mut row = format!("| {e} | {within}");
        for (method, method_name) in METHODS {
            let Some(wrong) = wrong(method, e, &batches, &truth)? else {
                row += " | | ";
                continue;
            };
            let original = method == Method::GateKeeperOriginal;
            ensure!(
                original || wrong.rejects == 0,
                "{name}: {method_name} rejects pairs within {e}"
            );
            if method != Method::Exact {
                let share = wrong.accepts as f64 * 100.0 / truth.len() as f64;
                write!(row, " | {} ({share:.2} %)", wrong.accepts)?;
            }
            if original {
                write!(row, " | {}", wrong.rejects)?;
            }
        }
        say(&format!("{row} |\n"))?;
    }
    Ok(())
}

/// Compares all decisions with the truth; `None` if the method does not allow the threshold. Fails if a distance of
/// the exact method is wrong.
fn wrong(
    method: Method,
    e: u32,
    batches: &[PairBatch<'_>],
    truth: &[i32],
) -> Result<Option<Wrong>> {
    let config = Config { method, ..Config::new(Threshold::Edits(e)) };
    let Ok(filter) = Filter::new(config) else { return Ok(None) };
    let mut decisions = Vec::with_capacity(truth.len());
    decide(&filter, batches, &mut Scratch::default(), |found| decisions.extend_from_slice(found));
    let mut wrong = Wrong::default();
    for (&decision, &distance) in decisions.iter().zip(truth) {
        let right = distance <= e as i32;
        let exact = if right { distance } else { -1 };
        ensure!(
            method != Method::Exact || decision == exact,
            "exact: {decision}, edlib: {distance}"
        );
        wrong.accepts += u64::from(decision >= 0 && !right);
        wrong.rejects += u64::from(decision < 0 && right);
    }
    ensure!(decisions.len() == truth.len(), "the number of decisions differs from that of pairs");
    Ok(Some(wrong))
}
