//! Bins of counts on a logarithmic scale, on which peaks have about the same width at any count.

use super::rows::Row;

/// The largest ratio of the upper to the lower end of a bin; small counts have a bin each.
const WIDTH: f64 = 1.1;
/// The number of bins on either side that belong to the same peak; together they span about a quarter of its count.
const AROUND: usize = 2;

/// The k-mers of some neighbouring counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The number of distinct k-mers.
    pub(super) kmers: f64,
    /// The number of their occurrences.
    pub(super) occurrences: f64,
}

impl Bin {
    /// Returns the density of distinct k-mers over the logarithm of the count.
    pub(super) fn density(&self) -> f64 {
        self.kmers / ((f64::from(self.to) + 0.5) / (f64::from(self.from) - 0.5)).ln()
    }
}

/// Returns all bins from count `from` on to the last row.
pub(super) fn bins(rows: &[Row], from: u32) -> Vec<Bin> {
    let mut rows = rows.iter().skip_while(|row| row.0 < from).peekable();
    let (mut from, mut bins) = (from.max(1), Vec::new());
    while rows.peek().is_some() {
        let to = ((f64::from(from) * WIDTH) as u32).max(from);
        let mut bin = Bin { from, to, kmers: 0.0, occurrences: 0.0 };
        while let Some((count, number)) = rows.next_if(|row| row.0 <= to) {
            bin.kmers += *number as f64;
            bin.occurrences += f64::from(*count) * *number as f64;
        }
        bins.push(bin);
        let Some(next) = to.checked_add(1) else { break };
        from = next;
    }
    bins
}

/// Returns the sum of each bin and its neighbours.
pub(super) fn windows(bins: &[Bin]) -> Vec<Bin> {
    let window = |at: usize| {
        let around = &bins[at.saturating_sub(AROUND)..(at + AROUND + 1).min(bins.len())];
        Bin {
            from: around[0].from,
            to: around[around.len() - 1].to,
            kmers: around.iter().map(|bin| bin.kmers).sum(),
            occurrences: around.iter().map(|bin| bin.occurrences).sum(),
        }
    };
    (0..bins.len()).map(window).collect()
}
