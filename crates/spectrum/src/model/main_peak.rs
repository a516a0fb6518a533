//! Finds the main peak of a histogram at any count.

use super::bins::{Bin, bins, windows};
use super::rows::Row;

/// The peak of the genome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MainPeak {
    pub(super) count: f64,
    /// The count at which errors have a separate peak; 0 if they only fall.
    pub(super) errors: f64,
}

/// The minimum ratio of the count of the genome's peak to the count of the errors' peak; each error has a certain base
/// instead of another one.
const MIN_RATIO: f64 = 80.0;
/// The bounds of the number of distinct k-mers with errors, relative to the number of those of the genome times k:
/// one to three other bases, with a margin for overlap with neighbouring peaks.
const ERRORS_EACH: [f64; 2] = [0.8, 3.5];
/// The largest number of occurrences of such errors, relative to the occurrences of the genome's k-mers.
const MAX_ERRORS: f64 = 0.4;

/// Finds the peak with the most distinct k-mers after the first dip, on a logarithmic scale. If that is a peak
/// of errors, the peak of the genome is returned instead. Returns `None` if the numbers only fall.
pub(super) fn main_peak(rows: &[Row], k: usize) -> Option<MainPeak> {
    let bins = bins(rows, 1);
    let density: Vec<f64> = bins.iter().map(Bin::density).collect();
    let first = density.iter().position(|density| *density > 0.0)?;
    let falls_no_more = |three: &[f64]| three[1] > three[0] && three[2] > three[0];
    let dip = density[first..].windows(3).position(falls_no_more);
    // Without errors, a narrow peak may begin and be the highest in the same bin.
    let dip = dip.or_else(|| rises_within(rows, &bins[first]).then_some(0))?;
    let bins = &bins[first + dip..];
    let lower = highest(bins)?;
    let behind: Vec<Bin> =
        bins.iter().copied().skip_while(|bin| f64::from(bin.from) < MIN_RATIO * lower).collect();
    let of_errors = highest(&behind).filter(|upper| {
        let near = |to: f64| move |bin: &&Bin| f64::from(bin.from) < to;
        let errors = sums(bins.iter().take_while(near(8.0 * lower)));
        let genome = sums(behind.iter().skip_while(near(upper / 3.0)));
        let each = errors[0] / (genome[0] * k as f64);
        (ERRORS_EACH[0]..ERRORS_EACH[1]).contains(&each) && errors[1] < MAX_ERRORS * genome[1]
    });
    Some(match of_errors {
        Some(upper) => MainPeak { count: upper, errors: lower },
        None => MainPeak { count: lower, errors: 0.0 },
    })
}

/// Whether the numbers rise from the first row of a bin on.
fn rises_within(rows: &[Row], bin: &Bin) -> bool {
    let mut kmers = rows.iter().filter(|row| row.0 >= bin.from && row.0 <= bin.to).map(|row| row.1);
    kmers.next().is_some_and(|first| kmers.any(|kmers| kmers > first))
}

/// Returns the mean count of the peak with the most distinct k-mers.
fn highest(bins: &[Bin]) -> Option<f64> {
    let windows = windows(bins);
    let highest = windows.iter().max_by(|one, other| one.kmers.total_cmp(&other.kmers))?;
    (highest.kmers > 0.0).then(|| highest.occurrences / highest.kmers)
}

/// Returns the number of distinct k-mers of some bins, and the number of their occurrences.
fn sums<'a>(bins: impl Iterator<Item = &'a Bin>) -> [f64; 2] {
    bins.fold([0.0; 2], |[kmers, all], bin| [kmers + bin.kmers, all + bin.occurrences])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peak(rows: &mut [f64], kmers: f64, mean: f64) {
        for (count, number) in rows.iter_mut().enumerate() {
            let off = (count as f64 - mean) / mean.sqrt();
            *number +=
                kmers * (-off * off / 2.0).exp() / (mean * 2.0 * std::f64::consts::PI).sqrt();
        }
    }

    fn found(peaks: &[(f64, f64)]) -> Option<MainPeak> {
        let mut rows: Vec<f64> = (0..20_000).map(|count| 1e7 * 0.1f64.powi(count)).collect();
        peaks.iter().for_each(|&(kmers, mean)| self::peak(&mut rows, kmers, mean));
        let rows: Vec<Row> = (0..).zip(rows).map(|(count, n)| (count, n.round() as u64)).collect();
        main_peak(&rows[1..], 21)
    }

    #[track_caller]
    fn close(found: Option<MainPeak>, count: f64, errors: f64) {
        let peak = found.unwrap();
        assert!((peak.count / count - 1.0).abs() < 0.05, "{peak:?}");
        assert!((peak.errors - errors).abs() <= 0.2 * errors, "{peak:?}");
    }

    #[test]
    fn the_genome_has_the_most_distinct_kmers_but_for_errors() {
        close(found(&[(2e6, 30.0)]), 30.0, 0.0);
        close(found(&[(2e6, 3000.0)]), 3000.0, 0.0);
        // An organelle.
        close(found(&[(2e6, 30.0), (2e4, 3000.0)]), 30.0, 0.0);
        close(found(&[(2e6, 8.0), (1.5e5, 1000.0)]), 8.0, 0.0);
        // Errors of many reads of the same base: 3 other bases, 0.15 % each.
        close(found(&[(30e3 * 63.0, 15.0), (30e3, 10_000.0)]), 10_000.0, 15.0);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_peak_without_errors_may_be_in_one_bin() {
        let mut rows = vec![0.0; 6_000];
        peak(&mut rows, 3e4, 5000.0);
        let rows = (0..).zip(rows).map(|(count, kmers)| (count, kmers.round() as u64));
        let rows: Vec<Row> = rows.filter(|row| row.1 > 0).collect();
        for from in [4_600, 4_850] {
            let cut: Vec<Row> = rows.iter().copied().filter(|row| row.0 >= from).collect();
            close(main_peak(&cut, 21), 5000.0, 0.0);
        }
        // The numbers only fall.
        let cut: Vec<Row> = rows.iter().copied().filter(|row| row.0 > 5_050).collect();
        assert_eq!(main_peak(&cut, 21), None);
    }
}
