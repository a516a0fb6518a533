//! The arithmetic of Merqury (Rhie et al. 2020): the error rate of an assembly from its k-mers that are in no
//! read, and the threshold above which k-mers of the reads belong to the genome.

/// Returns the fraction of an assembly's bases that are wrong if `missing` of its `kmers` k-mers of length `k`
/// are in no read: the p with (1 − p)^k = 1 − missing / kmers, 0 to 1. `None` without k-mers.
///
/// ```
/// // One wrong base in 10,000 makes 21 of 10,000 k-mers wrong, or a few less.
/// let rate = merganser_spectrum::error_rate(21, 10_000, 21).unwrap();
/// assert!((rate - 1e-4).abs() < 1e-6);
/// ```
pub fn error_rate(missing: u64, kmers: u64, k: usize) -> Option<f64> {
    let part = missing as f64 / kmers as f64;
    (kmers > 0).then(|| -((-part).ln_1p() / k as f64).exp_m1())
}

/// Returns an error rate as a Phred quality, −10 log₁₀: 40 for one in 10,000, infinite for 0, 0 for 1.
pub fn quality(error_rate: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    -10.0 * error_rate.log10() + 0.0
}

/// Returns the count above which k-mers of the reads belong to the genome (are solid): one less than the first
/// count at which the histogram rises after it has fallen. `rows` are counts from 1 on with their numbers of
/// distinct k-mers, ascending, without zeros. `None` if the histogram does not rise, or if equal neighbouring
/// numbers hide the rise, as in Merqury.
pub fn solid_threshold(rows: &[(u32, u64)]) -> Option<u32> {
    rows.windows(3).find_map(|three| {
        let [(_, before), (_, least), (count, after)] = *three else { return None };
        (least < before && after > least).then(|| count.saturating_sub(1))
    })
}

/// Returns the last count before the histogram first stops falling. It equals [`solid_threshold`] if the valley
/// is not flat. `rows` are as there.
pub fn first_valley(rows: &[(u32, u64)]) -> Option<u32> {
    rows.windows(2).find(|two| two[1].1 >= two[0].1).map(|two| two[1].0.saturating_sub(1))
}

/// Returns the count up to which k-mers are errors: the [first valley](first_valley), if the histogram rises above it
/// afterwards. Equal neighbouring numbers do not hide it, as they do for [`solid_threshold`]. `rows` are as there.
pub fn error_threshold(rows: &[(u32, u64)]) -> Option<u32> {
    let valley = first_valley(rows)?;
    let (errors, others) = rows.split_at(rows.partition_point(|row| row.0 <= valley));
    let least = errors.last().map_or(0, |row| row.1);
    others.iter().any(|row| row.1 > least).then_some(valley)
}

/// Whether the histogram first stops falling at a count other than [`solid_threshold`], because neighbouring
/// numbers are equal there; the threshold is then far above the valley.
pub fn is_flat_valley(rows: &[(u32, u64)]) -> bool {
    first_valley(rows) != solid_threshold(rows)
}

/// Returns the smallest k for which a genome of `bases` bases has few k-mers by chance, not rounded: ln(G (1 − p)
/// / p) / ln 4 with p = 0.001 (Fofanov et al. 2004, as in Merqury). `letters` is 4, or 3 if sequences are
/// homopolymer-compressed.
pub fn least_k(bases: u64, letters: u32) -> f64 {
    const BY_CHANCE: f64 = 0.001;
    (bases.max(1) as f64 * (1.0 - BY_CHANCE) / BY_CHANCE).ln() / f64::from(letters).ln()
}

/// Returns the first peaks of a histogram above `solid`, at most `most`, each with the lowest count between it
/// and the next peak. These are the depths of k-mers with one copy in the genome, two copies, and so on. `rows`
/// are as in [`solid_threshold`].
pub fn peaks(rows: &[(u32, u64)], solid: u32, most: usize) -> Vec<(u32, u32)> {
    let rows: Vec<(u32, u64)> = rows.iter().copied().filter(|row| row.0 > solid).collect();
    let (mut found, mut top, mut rises) = (Vec::new(), None, true);
    for two in rows.windows(2) {
        let [(count, here), (_, next)] = *two else { continue };
        match (rises, next.cmp(&here)) {
            (true, std::cmp::Ordering::Less) => (top, rises) = (Some(count), false),
            (false, std::cmp::Ordering::Greater) => {
                found.extend(top.take().map(|top| (top, count)));
                rises = true;
            }
            _ => {}
        }
        if found.len() == most {
            return found;
        }
    }
    let last = rows.last().map_or(0, |row| row.0);
    found.extend(top.map(|top| (top, last)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_by_definition() {
        assert_eq!(error_rate(0, 0, 21), None);
        assert_eq!(error_rate(0, 5, 21), Some(0.0));
        assert_eq!(error_rate(5, 5, 21), Some(1.0));
        assert_eq!(quality(0.0), f64::INFINITY);
        assert_eq!(format!("{:.2}", quality(1.0)), "0.00");
        let rate = error_rate(1000, 1_000_000, 21).unwrap();
        assert!((1.0 - (1.0 - rate).powi(21) - 0.001).abs() < 1e-12);
        assert!((quality(1e-4) - 40.0).abs() < 1e-9);
    }

    #[test]
    fn least_k_is_merqurys() {
        assert!((least_k(3_100_000_000, 4) - 20.75).abs() < 0.01);
        assert_eq!(least_k(5_000_000, 4).ceil(), 17.0);
    }

    #[test]
    fn the_threshold_is_before_the_first_rise() {
        let rows =
            |numbers: &[u64]| -> Vec<(u32, u64)> { (1..).zip(numbers.iter().copied()).collect() };
        assert_eq!(solid_threshold(&rows(&[90, 20, 5, 7, 30, 50, 10])), Some(3));
        assert!(!is_flat_valley(&rows(&[90, 20, 5, 7, 30, 50, 10])));
        // Equal neighbouring numbers hide the valley, and a later one is found.
        let flat = rows(&[90, 20, 5, 5, 30, 50, 10, 8, 9]);
        assert_eq!(solid_threshold(&flat), Some(8));
        assert!(is_flat_valley(&flat));
        assert_eq!(error_threshold(&flat), Some(3));
        assert_eq!(error_threshold(&rows(&[90, 20, 5, 7, 30, 50, 10])), Some(3));
        assert_eq!(error_threshold(&rows(&[9, 5, 4, 4, 3])), None);
        assert_eq!(error_threshold(&rows(&[5, 4, 3])), None);
        assert_eq!(error_threshold(&[]), None);
        assert_eq!(solid_threshold(&rows(&[5, 4, 3])), None);
        assert!(!is_flat_valley(&rows(&[5, 4, 3])));
        // Missing rows are not taken for rows of zero.
        assert_eq!(solid_threshold(&[(1, 50), (2, 3), (9, 4), (10, 7)]), Some(8));
    }

    #[test]
    fn peaks_have_valleys_between_them() {
        let numbers = [90, 20, 5, 7, 30, 20, 10, 12, 15, 9, 1];
        let rows: Vec<(u32, u64)> = (1..).zip(numbers).collect();
        assert_eq!(peaks(&rows, 3, 4), [(5, 7), (9, 11)]);
        assert_eq!(peaks(&rows, 3, 1), [(5, 7)]);
        assert_eq!(peaks(&rows, 20, 4), []);
    }
}
