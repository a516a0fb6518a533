//! K-mers that occur far more often than those of the genome, in a peak of their own: organelles,
//! plasmids, spike-ins.

use super::bins::{Bin, bins, windows};
use super::rows::Row;

/// What is found of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HighCopies {
    /// The mean count of the lowest of their peaks.
    pub(super) count: f64,
    /// K-mers above this count are theirs.
    pub(super) above: u32,
    /// Distinct k-mers above it,
    pub(super) kmers: f64,
    /// and how often they occur.
    pub(super) occurrences: f64,
    /// Of that, the highest peak.
    pub(super) highest: f64,
}

/// The first count that is looked at, by that of the main peak.
const FROM: f64 = 2.5;
/// Distinct k-mers of a peak, at least. Satellites and other short repeats have fewer.
const MIN_KMERS: f64 = 1000.0;
/// The least height of a peak, by the valley before it. Repeats of any number of copies get fewer with
/// it.
const MIN_RISE: f64 = 4.0;

/// Looks for a valley and a peak behind the peaks of a genome whose main one is at `main`.
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

/// The bin with the fewest k-mers by the logarithm of the count; the middle one of several without any.
fn lowest(bins: &[Bin]) -> usize {
    let least = bins.iter().map(Bin::density).fold(f64::INFINITY, f64::min);
    let is_least = |bin: &Bin| bin.density() <= least;
    let first = bins.iter().position(is_least).unwrap_or(0);
    let last = bins.iter().rposition(is_least).unwrap_or(0);
    (first + last) / 2
}
