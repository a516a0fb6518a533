//! Thins histograms of high coverage to what they would be for a part of the reads.
//!
//! A fit uses two thousand counts. If the main peak is beyond them, each occurrence of a k-mer is kept with the
//! same probability. A thinned negative binomial is again a negative binomial, with mean and bias reduced by
//! this probability, so the model stays valid. There is no random sampling; the numbers are expectations.

use super::Settings;
use super::main_peak::main_peak;
use super::rows::Rows;

/// The number of counts that a fit uses.
pub(super) const MAX_COUNTS: usize = 2000;
/// The largest count of a main peak for which a fit sees all counts that it needs: one interpretation assumes that the
/// peak's k-mers are in one of two haplotypes, and uses six times its coverage.
const MAX_PEAK: f64 = MAX_COUNTS as f64 / 6.0;
/// The count of the main peak after thinning.
const THINNED_PEAK: f64 = 200.0;

/// The histogram as a fit uses it.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The number of distinct k-mers of each count, from 0.
    pub(super) observed: Vec<f64>,
    /// The fraction of all occurrences that is kept: counts of the histogram times this are counts of the view.
    pub(super) part: f64,
    /// The count up to which k-mers are taken for those of errors.
    pub(super) errors: usize,
    /// The count, in the histogram, at which errors have a separate peak; 0 if they only fall.
    pub(super) error_peak: f64,
}

impl View {
    /// Uses the rows as they are, or thins them if their main peak is too high.
    pub(super) fn new(rows: &Rows, k: usize, settings: &Settings) -> View {
        let given = settings.coverage.map(|coverage| coverage * f64::from(settings.ploidy));
        let found = main_peak(&rows.rows, k).filter(|_| given.is_none());
        let main = given.or(found.map(|peak| peak.count)).unwrap_or(0.0);
        let part = if main > MAX_PEAK { THINNED_PEAK / main } else { 1.0 };
        let most = settings.max_count.unwrap_or(u32::MAX).min(rows.end().unwrap_or(u32::MAX));
        let error_peak = found.map_or(0.0, |peak| peak.errors);
        let thinned_peak = part * error_peak;
        let errors =
            if error_peak > 0.0 { thinned_peak + 4.0 * thinned_peak.sqrt() + 2.0 } else { 0.0 };
        let observed = if part < 1.0 {
            thinned(rows, part, most)
        } else {
            rows.dense(MAX_COUNTS.min(most as usize))
        };
        View { observed, part, errors: errors as usize, error_peak }
    }
}

/// Returns the expected numbers of distinct k-mers of each count after thinning, for counts that rows above
/// `most` do not affect.
fn thinned(rows: &Rows, part: f64, most: u32) -> Vec<f64> {
    let length = f64::from(most) * part;
    let length = ((length - 4.0 * length.sqrt()).max(0.0) as usize).min(MAX_COUNTS);
    let mut sums = vec![0.0; length + 1];
    for &(count, number) in &rows.rows {
        let mean = f64::from(count) * part;
        let reach = 9.0 * mean.sqrt() + 9.0;
        let from = (mean - reach).max(0.0) as usize;
        if from > length {
            break;
        }
        let to = ((mean + reach) as usize).min(length).min(count as usize);
        let mut probability = binomial(from, count, part);
        for (at, sum) in sums.iter_mut().enumerate().take(to + 1).skip(from) {
            *sum += number as f64 * probability;
            probability *= (f64::from(count) - at as f64) / (at as f64 + 1.0) * part / (1.0 - part);
        }
    }
    // k-mers of which no occurrence is kept.
    sums[0] = 0.0;
    sums
}

/// Returns the probability that `kept` of `count` are kept.
fn binomial(kept: usize, count: u32, part: f64) -> f64 {
    let (kept, count) = (kept as f64, f64::from(count));
    let ways = super::fit::ln_gamma(count + 1.0)
        - super::fit::ln_gamma(kept + 1.0)
        - super::fit::ln_gamma(count - kept + 1.0);
    (ways + kept * part.ln() + (count - kept) * (1.0 - part).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_histogram_has_its_kmers_at_lower_counts() {
        let rows = Rows::new(&[(3000, 500), (3001, 700)], &Settings::default()).unwrap();
        let thinned = thinned(&rows, 0.05, u32::MAX);
        let sum: f64 = thinned.iter().sum();
        assert!((sum - 1200.0).abs() < 1e-3, "{sum}");
        let mean = thinned.iter().enumerate().map(|(at, n)| at as f64 * n).sum::<f64>() / sum;
        assert!((mean - 150.03).abs() < 0.01, "{mean}");
    }
}
