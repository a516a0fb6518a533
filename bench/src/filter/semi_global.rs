//! Time of semi-global decisions, from batches in memory and from slices of text.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use merganser_filter::{Align, Config, Filter, PairBatch, Scratch, Threshold};

use super::edlib::Edlib;
use super::sassy::Sassy;
use super::{BATCH, decide, pack};
use crate::count::say;
use crate::generate::pairs::{Kind, Set};

/// Lengths of reads, additional bases of their segments, and thresholds.
const CASES: [(usize, usize, &[u32]); 3] =
    [(100, 30, &[2, 5, 10]), (150, 50, &[7, 15]), (250, 100, &[10, 25])];

/// Number of passes over a set; the fastest one counts.
const PASSES: usize = 5;

/// Prints the table.
///
/// # Errors
/// If the distances differ from edlib's.
pub(super) fn run(pairs: u64, edlib: &Edlib, with_sassy: bool) -> Result<()> {
    let sassy = if with_sassy { Some(Sassy::build()?) } else { None };
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let file = folder.path().join("pairs");
    say("\nSemi-global, one thread; ns per pair.\n\n")?;
    say(
        "| length | segment | e | edlib (HW, k = e) | Sassy, one by one | Sassy, a read in 64 segments | exact | edlib ÷ exact | Sassy ÷ exact | Sassy (64) ÷ exact | exact, from slices |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    )?;
    for (length, spare, thresholds) in CASES {
        let pairs = pairs * 100 / length as u64;
        let set = Set { length, spare, pairs, max_edits: length / 5, seed: 5, kind: Kind::Mixed };
        let text = set.text();
        std::fs::write(&file, &text).context("cannot write pairs")?;
        let batches = pack(&text)?;
        for &e in thresholds {
            let found = edlib.run_as(&file, e as i32, "HW")?;
            let filter = Filter::new(Config {
                align: Align::SemiGlobal,
                ..Config::new(Threshold::Edits(e))
            })?;
            let (packed, all) = fastest(pairs, |all| {
                let mut scratch = Scratch::default();
                decide(&filter, &batches, &mut scratch, |found| all.extend_from_slice(found));
                Ok(())
            })?;
            ensure!(all == found.distances, "exact differs from edlib at {length}, {e}");
            let (slices, all) = fastest(pairs, |all| from_slices(&filter, &text, all))?;
            ensure!(all == found.distances, "slices differ from edlib at {length}, {e}");
            let peer = sassy.as_ref().map(|sassy| sassy.run(&file, e)).transpose()?;
            let mut columns = [const { String::new() }; 4];
            if let Some(peer) = peer {
                ensure!(peer.distances == found.distances, "Sassy is not edlib at {length}, {e}");
                columns = [peer.alone, peer.together, peer.alone / packed, peer.together / packed]
                    .map(|number| format!("{number:.1}"));
            }
            let [alone, together, ratio, ratio_together] = columns;
            let segment = length + spare;
            let of_edlib = found.nanoseconds / packed;
            say(&format!(
                "| {length} | {segment} | {e} | {:.0} | {alone} | {together} | {packed:.1} | **{of_edlib:.1}** | {ratio} | {ratio_together} | {slices:.1} |\n",
                found.nanoseconds
            ))?;
        }
    }
    Ok(())
}

/// Returns the time of the fastest of several passes, in nanoseconds per pair, and the decisions.
fn fastest(pairs: u64, pass: impl Fn(&mut Vec<i32>) -> Result<()>) -> Result<(f64, Vec<i32>)> {
    let (mut least, mut all) = (f64::MAX, Vec::new());
    for _ in 0..PASSES {
        all.clear();
        let start = Instant::now();
        pass(&mut all)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / pairs as f64);
    }
    Ok((least, all))
}

/// Decides pairs given as slices of letters.
fn from_slices(filter: &Filter, text: &[u8], all: &mut Vec<i32>) -> Result<()> {
    let (mut batch, mut scratch, mut decisions) =
        (PairBatch::new(), Scratch::default(), Vec::new());
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    loop {
        batch.clear();
        for line in lines.by_ref().take(BATCH) {
            let tab = line.iter().position(|&byte| byte == b'\t').context("no tab")?;
            batch.push(&line[..tab], &line[tab + 1..])?;
        }
        if batch.is_empty() {
            return Ok(());
        }
        filter.run_codes(&batch, &mut scratch, &mut decisions);
        all.extend_from_slice(&decisions);
    }
}
