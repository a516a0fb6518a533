//! Estimates the ploidy from het-mers: pairs of k-mers that differ in one base. The counts of a pair depend on
//! how many haplotypes have each of its k-mers, so pairs form clusters. This is the idea of Smudgeplot
//! (Ranallo-Benavidez et al. 2020). The fit is a different one: a mixture of all combinations of up to six
//! haplotypes and of pairs with arbitrary counts, for each coverage of one haplotype that the main peak of the
//! histogram permits.

use crate::error_threshold;

/// The combinations in which up to six haplotypes have two k-mers: the number with the rarer one, and the
/// number with the other.
pub const WAYS: [[u32; 2]; 9] =
    [[1, 1], [1, 2], [1, 3], [2, 2], [1, 4], [2, 3], [1, 5], [2, 4], [3, 3]];
/// The largest number of haplotypes.
const MAX_COPIES: u32 = 6;
/// The ratio of the variance of a count to the variance of a Poisson distribution.
const DISPERSION: f64 = 1.5;
/// The range of candidates for the coverage around each fraction of the main peak, in both directions.
const AROUND: f64 = 0.12;
/// The step between candidates for the coverage.
const STEP: f64 = 0.02;
/// The number of rounds of the fit.
const ROUNDS: usize = 25;
/// The minimum gain for which a smaller coverage is preferred, in natural logarithms of the probability of a pair.
const BETTER: f64 = 0.02;
/// The minimum number of pairs that differ in one given base, relative to all k-mers; fewer pairs are due to chance or repeats.
const MIN_PAIRS: f64 = 0.0002;
/// The minimum number of pairs relative to all k-mers if the main peak may be that of one haplotype, since
/// diverged repeats then look like two haplotypes.
const MIN_PAIRS_OF_ONE: f64 = 0.005;
/// The minimum fraction of a combination's k-mers that must have counts above those of errors; below it, the rest
/// cannot be estimated.
const MIN_SEEN: f64 = 0.05;
/// The minimum number of pairs for an estimate.
const MIN: f64 = 50.0;
/// The largest count of the main peak for which a ploidy is estimated. No genome is sequenced so deeply, and a
/// fit needs memory for each count up to [`MAX_COPIES`] times this one.
const LARGEST_PEAK: u32 = 1 << 16;

/// The pairs of one combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smudge {
    /// The number of haplotypes with the rarer k-mer, and with the other one.
    pub copies: [u32; 2],
    /// The estimated number of pairs.
    pub pairs: f64,
}

impl Smudge {
    /// Returns a letter for each haplotype, as in Smudgeplot: AAB for two and one.
    pub fn letters(&self) -> String {
        let [rarer, other] = self.copies;
        "A".repeat(other as usize) + &"B".repeat(rarer as usize)
    }
}

/// The estimate of the ploidy.
#[derive(Clone, Debug, PartialEq)]
pub struct Ploidy {
    /// The number of haplotypes, 1 to 6, in the combination with the most pairs.
    pub ploidy: u32,
    /// The approximate count of a k-mer that one haplotype has once; `None` if there are too few pairs.
    pub coverage: Option<f64>,
    /// The count above which k-mers were used; the others are errors ([`error_threshold`]).
    pub solid: u32,
    /// The combinations with pairs, in the order of [`WAYS`].
    pub smudges: Vec<Smudge>,
    /// The estimated number of pairs with arbitrary counts.
    pub other: f64,
}

/// Estimates the number of haplotypes from pairs of k-mers. `pairs` are two counts, the smaller first, and the
/// number of pairs with them; the pairs differ in one of `bases` bases. `histogram` are counts, ascending, with the
/// number of k-mers that have each.
/// Returns `None` if there is no peak after the errors, or if it is at a count above 65,536.
pub fn ploidy(
    pairs: &[((u32, u32), u64)],
    bases: usize,
    histogram: &[(u32, u64)],
) -> Option<Ploidy> {
    let solid = error_threshold(histogram)?;
    let behind = || histogram.iter().filter(|row| row.0 > solid);
    let (peak, _) = *behind().max_by_key(|row| row.1).filter(|row| row.0 <= LARGEST_PEAK)?;
    // Files can have any numbers.
    let kmers = behind().map(|row| row.1).fold(0, u64::saturating_add);
    // One difference between haplotypes makes a pair for each base.
    let per = bases as f64;
    let cells = Cells::new(pairs, solid, peak);
    let few = Ploidy { ploidy: 1, coverage: None, solid, smudges: Vec::new(), other: cells.pairs };
    if cells.pairs < MIN.max(MIN_PAIRS * per * kmers as f64) {
        return Some(few);
    }
    // The coverage decreases from round to round: half the coverage with twice the copies fits equally well.
    let mut best: Option<Fit> = None;
    for part in 1..=MAX_COPIES {
        let steps = (AROUND / STEP).round() as i32;
        let of_part = (-steps..=steps)
            .map(|step| f64::from(peak) / f64::from(part) * (1.0 + STEP * f64::from(step)))
            .filter(|&coverage| coverage > 2.0)
            .map(|coverage| cells.fit(coverage))
            .max_by(|one, other| one.likelihood.total_cmp(&other.likelihood));
        if let Some(fit) = of_part
            && best.as_ref().is_none_or(|best| fit.likelihood > best.likelihood + BETTER)
        {
            best = Some(fit);
        }
    }
    let Fit { coverage, weights, .. } = best?;
    let smudges: Vec<Smudge> = WAYS
        .into_iter()
        .zip(weights)
        .map(|(copies, weight)| Smudge { copies, pairs: weight * cells.pairs })
        .filter(|smudge| smudge.pairs >= 0.5)
        .collect();
    let in_smudges: f64 = smudges.iter().map(|smudge| smudge.pairs).sum();
    let brightest = smudges.iter().max_by(|one, other| one.pairs.total_cmp(&other.pairs));
    let is_of_one = f64::from(peak) / coverage < 1.5;
    let least = if is_of_one { MIN_PAIRS_OF_ONE } else { MIN_PAIRS };
    match brightest {
        Some(brightest) if in_smudges >= MIN.max(least * per * kmers as f64) => Some(Ploidy {
            ploidy: brightest.copies.iter().sum(),
            coverage: Some(coverage),
            solid,
            other: cells.pairs - in_smudges,
            smudges,
        }),
        _ => Some(few),
    }
}

/// Pairs by their counts.
struct Cells {
    cells: Vec<([usize; 2], f64)>,
    pairs: f64,
    /// The count above which pairs are used.
    solid: usize,
    /// The largest count that is used.
    most: usize,
}

/// The fit for one coverage.
struct Fit {
    coverage: f64,
    /// The mean over all pairs of the natural logarithm of their probability.
    likelihood: f64,
    /// The fraction of the pairs in each combination.
    weights: [f64; WAYS.len()],
}

impl Cells {
    /// Selects the pairs above the counts of errors, up to the largest count of any combination.
    fn new(pairs: &[((u32, u32), u64)], solid: u32, peak: u32) -> Cells {
        let most = MAX_COPIES * peak;
        let inside = pairs.iter().filter(|((minor, major), _)| *minor > solid && *major <= most);
        let cells: Vec<([usize; 2], f64)> = inside
            .map(|&((minor, major), number)| ([minor as usize, major as usize], number as f64))
            .collect();
        let pairs = cells.iter().map(|cell| cell.1).sum();
        Cells { cells, pairs, solid: solid as usize, most: most as usize }
    }

    /// Fits the fractions of all combinations by expectation-maximization, for a given coverage of one haplotype.
    fn fit(&self, coverage: f64) -> Fit {
        let densities: Vec<Vec<f64>> = (1..MAX_COPIES)
            .map(|copies| densities(f64::from(copies) * coverage, self.solid, self.most))
            .collect();
        // Pairs with arbitrary counts: uniform up to the largest count, the smaller count first.
        let anywhere = 2.0 / (self.most as f64 * self.most as f64);
        let mut weights = [0.9 / WAYS.len() as f64; WAYS.len()];
        let mut likelihood = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            let left = 1.0 - weights.iter().sum::<f64>();
            let (mut sums, mut logarithms) = ([0.0; WAYS.len()], 0.0);
            for &([minor, major], number) in &self.cells {
                let mut parts = [0.0; WAYS.len()];
                for ((part, [rarer, other]), weight) in parts.iter_mut().zip(WAYS).zip(weights) {
                    let density = |copies: u32, count: usize| densities[copies as usize - 1][count];
                    // If both copy numbers are equal, either k-mer may have the smaller count.
                    let orders = if rarer == other { 2.0 } else { 1.0 };
                    *part = weight * orders * density(rarer, minor) * density(other, major);
                }
                let all = parts.iter().sum::<f64>() + left.max(1e-6) * anywhere;
                logarithms += number * all.ln();
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += number * part / all);
            }
            weights = sums.map(|sum| sum / self.pairs);
            likelihood = logarithms / self.pairs;
        }
        Fit { coverage, likelihood, weights }
    }
}

/// Returns the probability of each count up to `most` among those above `solid`, if the mean of all counts is `mean`.
fn densities(mean: f64, solid: usize, most: usize) -> Vec<f64> {
    let variance = DISPERSION * mean;
    let density = |count: usize| (-(count as f64 - mean).powi(2) / (2.0 * variance)).exp();
    let mut densities: Vec<f64> = (0..=most).map(density).collect();
    let all: f64 = densities.iter().sum();
    // The counts below were cut off; if these are almost all, nothing is known.
    let seen = densities[solid.min(most)..].iter().sum::<f64>().max(MIN_SEEN * all);
    densities.iter_mut().for_each(|density| *density /= seen.max(f64::MIN_POSITIVE));
    densities
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the estimate for pairs of some combinations and a histogram with a main peak.
    fn sample(coverage: f64, ways: &[([u32; 2], u32)], peak: f64, kmers: f64) -> Option<Ploidy> {
        sample_with(coverage, ways, peak, kmers, |_| ())
    }

    /// Changes the histogram of a [`sample`].
    fn sample_with(
        coverage: f64,
        ways: &[([u32; 2], u32)],
        peak: f64,
        kmers: f64,
        change: impl FnOnce(&mut [(u32, u64)]),
    ) -> Option<Ploidy> {
        let mut pairs = BTreeMap::new();
        // Approximately normal numbers from sums of uniform ones.
        let mut seed = 7u64;
        let mut uniform = || {
            // SplitMix64.
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let mixed = mixed ^ (mixed >> 31);
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut draw = |mean: f64| {
            let sum: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            (mean + sum * (1.2 * mean).sqrt()).round().max(1.0) as u32
        };
        for &([rarer, other], number) in ways {
            for _ in 0..number {
                let counts = [rarer, other].map(|copies| draw(f64::from(copies) * coverage));
                *pairs.entry((counts[0].min(counts[1]), counts[0].max(counts[1]))).or_insert(0) +=
                    1;
            }
        }
        let pairs: Vec<_> = pairs.into_iter().collect();
        let at = |count: u32| {
            let errors = 0.3 * kmers * 0.3f64.powi(count as i32 - 1);
            let [once, all] = [coverage, peak].map(|mean| densities(mean, 0, 400)[count as usize]);
            let of_genome = kmers * (0.1 * once + 0.9 * all);
            (count, (errors + of_genome) as u64)
        };
        let mut histogram: Vec<(u32, u64)> = (1..400).map(at).filter(|row| row.1 > 0).collect();
        change(&mut histogram);
        ploidy(&pairs, 1, &histogram)
    }

    #[test]
    fn the_brightest_smudge_tells() {
        let told = |coverage, ways: &[_], peak| {
            let told = sample(coverage, ways, peak, 1e6).unwrap();
            (told.ploidy, told.coverage.map(|found| (found / coverage - 1.0).abs() < 0.05))
        };
        assert_eq!(told(20.0, &[([1, 1], 3000)], 40.0), (2, Some(true)));
        assert_eq!(told(20.0, &[([1, 1], 9000)], 20.0), (2, Some(true)));
        assert_eq!(told(20.0, &[([1, 2], 3000), ([1, 1], 300)], 60.0), (3, Some(true)));
        assert_eq!(told(15.0, &[([1, 3], 3000), ([2, 2], 1200)], 60.0), (4, Some(true)));
        assert_eq!(told(15.0, &[([2, 2], 3000), ([1, 3], 900)], 60.0), (4, Some(true)));
        assert_eq!(told(25.0, &[([1, 5], 3000), ([2, 4], 900)], 150.0), (6, Some(true)));
    }

    #[test]
    fn equal_numbers_in_the_valley_hide_no_haplotype() {
        let told = sample_with(20.0, &[([1, 1], 9000)], 40.0, 1e6, |rows| {
            let (least, _) = rows[..20].iter().enumerate().min_by_key(|(_, row)| row.1).unwrap();
            rows[least + 1].1 = rows[least].1;
        });
        let told = told.unwrap();
        assert!(told.ploidy == 2 && told.solid < 12, "{told:?}");
    }

    #[test]
    fn few_pairs_are_one_haplotype() {
        assert_eq!(sample(20.0, &[([1, 1], 60)], 20.0, 1e6).unwrap().ploidy, 1);
        assert_eq!(sample(20.0, &[], 20.0, 1e6).unwrap().ploidy, 1);
        // Diverged repeats, with the main peak at the coverage of one haplotype.
        assert_eq!(sample(20.0, &[([1, 1], 2000)], 20.0, 1e6).unwrap().ploidy, 1);
    }

    #[test]
    fn numbers_beyond_all_are_told_of_or_not() {
        let pairs = [((3, 4), u64::MAX), ((4, 4), u64::MAX)];
        let histogram = |peak| [(1, 9), (2, 1), (3, u64::MAX - 1), (peak, u64::MAX)];
        assert_eq!(ploidy(&pairs, 1, &histogram(9)).unwrap().solid, 2);
        assert_eq!(ploidy(&pairs, 1, &histogram(u32::MAX)), None);
    }

    #[test]
    fn pairs_that_lie_anywhere_are_of_no_way() {
        let told = sample(20.0, &[([1, 1], 3000)], 40.0, 1e6).unwrap();
        let [smudge] = told.smudges[..] else { panic!("{told:?}") };
        assert_eq!(smudge.copies, [1, 1]);
        assert!(smudge.pairs > 2800.0 && told.other < 200.0, "{told:?}");
    }
}
