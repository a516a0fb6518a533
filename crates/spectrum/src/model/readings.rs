//! Interpretations ("readings") of a histogram: the k-mers of the highest peak are in both haplotypes or in only one.
//!
//! A genome without heterozygosity but with duplicated parts, and a genome of half the size whose haplotypes
//! differ, have peaks at the same two counts, one twice the other. If both readings explain a histogram about
//! equally well, usually the less heterozygous one is chosen and the other one is reported. The exceptions are
//! readings with implausible values, and peaks at three and four times the highest one that agree with the
//! heterozygous reading.

use std::iter::repeat_n;

use super::fit::{Few, Fit, Shape, Values, squares};

/// A fit and its score.
#[derive(Clone, Debug)]
pub(super) struct ScoredFit {
    pub(super) fit: Fit,
    /// The unexplained fraction of the sum of squares (residual sum of squares / total sum of squares), over the
    /// counts up to 4.5 times the count of the highest peak, or further for more than three haplotypes.
    left: f64,
}

/// The chosen reading, and another one that is almost as good.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) chosen: Fit,
    pub(super) other: Option<Fit>,
}

/// Two readings tie if their unexplained fractions differ by less than this.
const TIE: f64 = 0.01;
/// The largest plausible fraction of a genome that is duplicated exactly.
const MAX_DUPLICATION: f64 = 0.45;
/// A larger duplicated fraction is accepted only if the fit is not much worse than the heterozygous one: few
/// genomes have that large a part in exactly two copies.
const MUCH_DUPLICATION: f64 = 0.3;
/// The ratio of unexplained fractions from which a fit is much worse.
const MUCH_WORSE: f64 = 4.0;
/// The largest plausible heterozygosity. More divergent haplotypes would share almost no k-mers, so a second peak
/// could only come from a few repeats.
const MAX_HETEROZYGOSITY: f64 = 0.12;

/// The relative difference below which two coverages are the same.
const SAME: f64 = 0.15;

/// A peak with a smaller fraction of the genome than this is not significant.
const MIN_PEAK: f64 = 0.002;

/// Fits the histogram several times, assuming that the k-mers of the highest peak are in all haplotypes or in
/// fewer. `observed` has the number of k-mers by count, `dip` is the count at the first minimum, and `peak` is
/// the count of the highest peak after it. If the coverage is given, only its reading is fitted.
pub(super) fn choose(
    observed: &[f64],
    dip: usize,
    peak: usize,
    shape: &Shape,
    coverage: Option<f64>,
) -> Option<Choice> {
    let read = |share: f64| reading(observed, dip, peak, shape, share);
    if let Some(coverage) = coverage {
        return Some(Choice { chosen: read(coverage / peak as f64)?.fit, other: None });
    }
    match shape.ploidy {
        1 => Some(Choice { chosen: read(1.0)?.fit, other: None }),
        2 => one_or_both(observed, peak, read(0.5), read(1.0)),
        more => least_heterozygous((1..=more).filter_map(|times| read(1.0 / f64::from(times)))),
    }
}

/// Chooses between two readings for two haplotypes: the k-mers of the highest peak are in both, or in only one.
fn one_or_both(
    observed: &[f64],
    peak: usize,
    both: Option<ScoredFit>,
    one: Option<ScoredFit>,
) -> Option<Choice> {
    let (both, one) = match (both, one) {
        (Some(both), Some(one)) => (both, one),
        (only, None) | (None, only) => return Some(Choice { chosen: only?.fit, other: None }),
    };
    let tie = both.left < one.left + TIE && one.left < both.left + TIE;
    // Whether the values of each reading are plausible.
    let both_may_be = both.fit.duplication() <= MAX_DUPLICATION;
    let one_may_be = one.fit.rate() <= MAX_HETEROZYGOSITY;
    let both_is_meant = match (both_may_be, one_may_be) {
        (true, false) => both.left < one.left + 10.0 * TIE,
        (false, true) => both.left + 10.0 * TIE < one.left,
        _ if tie && both.fit.duplication() > MUCH_DUPLICATION => {
            both.left < MUCH_WORSE * one.left && !higher_peaks_agree(observed, peak, &one.fit)
        }
        _ if tie => !higher_peaks_agree(observed, peak, &one.fit),
        _ => both.left < one.left,
    };
    let (chosen, other) = if both_is_meant { (both, one) } else { (one, both) };
    let named = both_may_be && one_may_be && other.left < chosen.left + 2.0 * TIE;
    Some(Choice { chosen: chosen.fit, other: named.then_some(other.fit) })
}

/// Chooses a reading for more than two haplotypes: the least heterozygous one among those whose score is
/// within [`TIE`] of the best. The score is the unexplained fraction, plus a penalty for implausible values.
fn least_heterozygous(readings: impl Iterator<Item = ScoredFit>) -> Option<Choice> {
    let may_be =
        |fit: &Fit| fit.duplication() <= MAX_DUPLICATION && fit.rate() <= MAX_HETEROZYGOSITY;
    let score = |one: &ScoredFit| one.left + if may_be(&one.fit) { 0.0 } else { 10.0 * TIE };
    let mut readings: Vec<ScoredFit> = readings.collect();
    readings.sort_by(|one, other| one.fit.rate().total_cmp(&other.fit.rate()));
    let best = readings.iter().map(score).min_by(f64::total_cmp)?;
    let chosen = readings.remove(readings.iter().position(|one| score(one) < best + TIE)?);
    // Fits from different starts may have converged to the same values.
    let differs = |fit: &Fit| (fit.coverage() / chosen.fit.coverage() - 1.0).abs() > SAME;
    let good = |one: &ScoredFit| may_be(&one.fit) && one.left < chosen.left + 2.0 * TIE;
    let ties = |one: &ScoredFit| good(one) && differs(&one.fit);
    let other = readings.into_iter().find(ties);
    Some(Choice { chosen: chosen.fit, other: other.map(|other| other.fit) })
}

/// Returns sets of initial rates. With at most one pattern, there are three sets with different rates; with
/// more, there are six: equal, increasing and decreasing rates, each at two levels.
fn starts(patterns: usize) -> Vec<Few> {
    if patterns < 2 {
        return [0.002, 0.02, 0.2].map(|rate| repeat_n(rate, patterns).collect()).to_vec();
    }
    let of = |rate: f64, order: fn(usize, usize) -> usize| -> Few {
        (0..patterns).map(|at| rate * order(at, patterns) as f64).collect()
    };
    let orders: [fn(usize, usize) -> usize; 3] = [|_, _| 1, |at, _| at + 1, |at, all| all - at];
    [0.001, 0.01].into_iter().flat_map(|rate| orders.map(|order| of(rate, order))).collect()
}

fn reading(
    observed: &[f64],
    dip: usize,
    peak: usize,
    shape: &Shape,
    share: f64,
) -> Option<ScoredFit> {
    let coverage = peak as f64 * share;
    // The end of the last peak.
    let reach = if shape.ploidy == 1 { 3.0 } else { 2.0 * f64::from(shape.ploidy) + 2.0 };
    let to = within((coverage * reach) as usize + 4, dip, observed);
    let length = observed[dip..=to].iter().sum::<f64>().max(1.0);
    let fit = |rates: Few| {
        shape.fit(
            observed,
            dip,
            to,
            &Values { coverage, bias: 0.5, shared_bias: 0.5, length, duplication: 0.02, rates },
        )
    };
    // A fit that moved to another peak is another reading.
    let stayed = |fit: &Fit| (fit.coverage() / coverage - 1.0).abs() < 0.3;
    let fits = starts(shape.patterns.rates()).into_iter().filter_map(fit).filter(stayed);
    let fit = fits.min_by(|one, other| one.residual.total_cmp(&other.residual))?;
    // The score includes counts up to 4.5 times the highest peak and, for more than three haplotypes, further
    // counts, so that it includes the peak of all haplotypes even if the highest peak is that of one haplotype.
    let end = (4.5f64).max(1.5 * f64::from(shape.ploidy)) * peak as f64;
    let end = within(end as usize, dip, observed);
    let counts = &observed[dip..=end];
    let all: f64 = counts.iter().map(|number| number.powi(2)).sum();
    let left = squares(counts, &fit.expected(dip, end));
    Some(ScoredFit { fit, left: left / all.max(1.0) })
}

/// Limits the last count of a fit: it is at least `dip + 8`, but never beyond the end of the histogram.
pub(super) fn within(count: usize, dip: usize, observed: &[f64]) -> usize {
    count.max(dip + 8).min(observed.len() - 1)
}

/// Whether the numbers of k-mers at three and four times the peak are those that a heterozygous `fit` predicts.
///
/// A peak at twice the count can also come from repeats. Repeats do not determine the numbers at three and four
/// times the peak, while a heterozygous fit does. If these numbers agree too, the genome is heterozygous.
fn higher_peaks_agree(observed: &[f64], peak: usize, fit: &Fit) -> bool {
    if fit.peaks()[3] < MIN_PEAK {
        return false;
    }
    for times in [3.0, 4.0] {
        let to = (((times + 0.5) * peak as f64) as usize).min(observed.len() - 1);
        let from = (((times - 0.5) * peak as f64) as usize).min(to);
        let found: f64 = observed[from..to].iter().sum();
        let wanted: f64 = fit.expected(from, to)[..to - from].iter().sum();
        if (found - wanted).abs() > 0.03 * found + 3.0 * found.sqrt() {
            return false;
        }
    }
    true
}
