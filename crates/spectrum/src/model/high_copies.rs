//! Finds k-mers in a separate peak far above the counts of the genome: organelles, plasmids, spike-ins.

use super::bins::{Bin, bins, windows};
use super::rows::Row;

/// The k-mers of high counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HighCopies {
    /// The mean count of the lowest of their peaks.
    pub(super) count: f64,
    /// The count above which k-mers belong to their peaks.
    pub(super) above: u32,
    /// The number of distinct k-mers above that count.
    pub(super) kmers: f64,
    /// The number of their occurrences.
    pub(super) occurrences: f64,
    /// The number of occurrences in the highest peak.
    pub(super) highest: f64,
}

/// The first count that is examined, relative to the count of the main peak.
const FROM: f64 = 2.5;
/// The minimum number of distinct k-mers in a peak; satellites and other short repeats have fewer.
const MIN_KMERS: f64 = 1000.0;
/// The least height of a peak relative to the valley before it. The number of ordinary repeats decreases with
/// their copies, so they form no such peak.
const MIN_RISE: f64 = 4.0;

/// Finds a valley and a peak above the peaks of a genome whose main peak is at `main`.
pub(super) fn high_copies(rows: &[Row], main: f64) -> Option<HighCopies> {
    let bins = bins(rows, (FROM * main).min(f64::from(u32::MAX)) as u32);
    let windows = windows(&bins);
    let mut least = f64::INFINITY;
    let rises = |window: &Bin| {
        least = window.kmers.min(least);
        window.kmers >= MIN_KMERS && window.kmers >= MIN_RISE * least.max(1.0)
    };
    let risen = windows.iter().position(rises)?;
    let top = (risen..windows.len() - 1)
        .find(|&at| windows[at + 1].kmers < windows[at].kmers)
        .unwrap_or(windows.len() - 1);
    let valley = lowest(&bins[..top.max(1)]);
    let behind = &bins[valley + 1..];
    let peaks = windows[risen..].iter().filter(|window| window.kmers >= MIN_KMERS);
    Some(HighCopies {
        count: windows[top].occurrences / windows[top].kmers,
        above: bins[valley].to,
        kmers: behind.iter().map(|bin| bin.kmers).sum(),
        occurrences: behind.iter().map(|bin| bin.occurrences).sum(),
        highest: peaks.map(|window| window.occurrences).fold(0.0, f64::max),
    })
}

/// Returns the index of the bin with the lowest density; the middle one on a tie.
fn lowest(bins: &[Bin]) -> usize {
    let least = bins.iter().map(Bin::density).fold(f64::INFINITY, f64::min);
    let is_least = |bin: &Bin| bin.density() <= least;
    let first = bins.iter().position(is_least).unwrap_or(0);
    let last = bins.iter().rposition(is_least).unwrap_or(0);
    (first + last) / 2
}
