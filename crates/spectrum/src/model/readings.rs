//! Readings of a histogram: the highest peak may be that of both haplotypes or that of one.
//!
//! A genome without heterozygosity of which parts stand twice, and one half as large whose haplotypes
//! differ, have peaks at the same places: at the coverage and twice of it. Where both explain a
//! histogram, the less heterozygous reading is meant, and the other one is told.

use std::iter::repeat_n;

use super::fit::{Few, Fit, Shape, Values, squares};

/// A fit, and how much of the histogram it leaves.
#[derive(Clone, Debug)]
pub(super) struct ScoredFit {
    pub(super) fit: Fit,
    /// Of the sum of squares up to four and a half times the highest peak, or more if there are more
    /// haplotypes than three.
    left: f64,
}

/// The reading that is meant, and another one that is about as good.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) chosen: Fit,
    pub(super) other: Option<Fit>,
}

/// Readings of which one leaves no more than so much more of the squares than the other are equally
/// good.
const TIE: f64 = 0.01;
/// More of a genome than this does not stand exactly twice.
const MAX_DUPLICATION: f64 = 0.45;
/// Haplotypes that differ more than this have next to no k-mer in common: a second peak so small is
/// that of a few repeats.
const MAX_HETEROZYGOSITY: f64 = 0.12;

/// Coverages that differ less are one.
const SAME: f64 = 0.15;

/// A peak of a smaller part of the genome says nothing.
const LEAST_PEAK: f64 = 0.002;

/// Reads the histogram with the highest peak as that of all haplotypes, and as that of fewer; with a
/// given coverage, in the one way that it says.
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

/// Of two haplotypes: the highest peak is that of both, or that of one.
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
    // What each takes for granted.
    let both_may_be = both.fit.duplication() <= MAX_DUPLICATION;
    let one_may_be = one.fit.rate() <= MAX_HETEROZYGOSITY;
    let both_is_meant = match (both_may_be, one_may_be) {
        (true, false) => both.left < one.left + 10.0 * TIE,
        (false, true) => both.left + 10.0 * TIE < one.left,
        _ if tie => !higher_peaks_agree(observed, peak, &one.fit),
        _ => both.left < one.left,
    };
    let (chosen, other) = if both_is_meant { (both, one) } else { (one, both) };
    let named = both_may_be && one_may_be && other.left < chosen.left + 2.0 * TIE;
    Some(Choice { chosen: chosen.fit, other: named.then_some(other.fit) })
}

/// Of more haplotypes: the least heterozygous of those that leave about as little as the best.
fn least_heterozygous(readings: impl Iterator<Item = ScoredFit>) -> Option<Choice> {
    let may_be =
        |fit: &Fit| fit.duplication() <= MAX_DUPLICATION && fit.rate() <= MAX_HETEROZYGOSITY;
    let score = |one: &ScoredFit| one.left + if may_be(&one.fit) { 0.0 } else { 10.0 * TIE };
    let mut readings: Vec<ScoredFit> = readings.collect();
    readings.sort_by(|one, other| one.fit.rate().total_cmp(&other.fit.rate()));
    let best = readings.iter().map(score).min_by(f64::total_cmp)?;
    let chosen = readings.remove(readings.iter().position(|one| score(one) < best + TIE)?);
    // Fits that began at other places may have come to the same.
    let differs = |fit: &Fit| (fit.coverage() / chosen.fit.coverage() - 1.0).abs() > SAME;
    let good = |one: &ScoredFit| may_be(&one.fit) && one.left < chosen.left + 2.0 * TIE;
    let ties = |one: &ScoredFit| good(one) && differs(&one.fit);
    let other = readings.into_iter().find(ties);
    Some(Choice { chosen: chosen.fit, other: other.map(|other| other.fit) })
}

/// Rates from which a fit begins: alike for all patterns, less for each next one, more for it.
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
    // The last peak and its width.
    let reach = if shape.ploidy == 1 { 3.0 } else { 2.0 * f64::from(shape.ploidy) + 2.0 };
    let to = within((coverage * reach) as usize + 4, dip, observed);
    let length = observed[dip..=to].iter().sum::<f64>().max(1.0);
    let fit = |rates: Few| {
        shape.fit(
            observed,
            dip,
            to,
            &Values { coverage, bias: 0.5, length, duplication: 0.02, rates },
        )
    };
    // One that has run away to another peak is another reading.
    let stayed = |fit: &Fit| (fit.coverage() / coverage - 1.0).abs() < 0.3;
    let fits = starts(shape.patterns.rates()).into_iter().filter_map(fit).filter(stayed);
    let fit = fits.min_by(|one, other| one.residual.total_cmp(&other.residual))?;
    // Where the peak of all haplotypes is, if the highest one is that of one.
    let end = (4.5f64).max(1.5 * f64::from(shape.ploidy)) * peak as f64;
    let end = within(end as usize, dip, observed);
    let counts = &observed[dip..=end];
    let all: f64 = counts.iter().map(|number| number.powi(2)).sum();
    let left = squares(counts, &fit.expected(dip, end));
    Some(ScoredFit { fit, left: left / all.max(1.0) })
}

/// The last count of a fit: some counts behind the dip, at least, and within the histogram.
pub(super) fn within(count: usize, dip: usize, observed: &[f64]) -> usize {
    count.max(dip + 8).min(observed.len() - 1)
}

/// Whether there are k-mers at three and four times the peak, and as many as heterozygosity says:
/// what repeats have there nothing ties to their number at twice.
fn higher_peaks_agree(observed: &[f64], peak: usize, fit: &Fit) -> bool {
    if fit.peaks()[3] < LEAST_PEAK {
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
