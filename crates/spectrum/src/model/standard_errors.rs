//! Standard errors of the values of a model.
//!
//! Each value is a function of the numbers of distinct k-mers of each count: directly (the sum of all occurrences)
//! and through the fitted parameters. Its derivatives by these numbers, times their variances, give its
//! variance (the "sandwich" estimator of least squares). The variance of a number is that of a Poisson
//! distribution, or the mean square of the residuals near it if that is larger: where the model does not describe
//! the histogram well, standard errors grow.

use super::fit::{
    BIAS, COVERAGE, DUPLICATION, Few, Fit, LENGTH, Matrix, OTHERS, SHARED_BIAS, Values, solve,
};
use super::rows::Rows;
use super::thinning::View;

/// Standard errors of the values of a [`Model`](super::Model), of the same names.
///
/// They tell how much values vary by chance and, where residuals are larger, by what the model does not describe.
/// They do not tell whether the ploidy or the interpretation is right: see [`Doubt`](super::Doubt).
#[derive(Clone, Debug, PartialEq)]
pub struct StandardErrors {
    /// The error of the mean count of a k-mer that one haplotype has once.
    pub coverage: f64,
    /// The error of the overdispersion of the first peak.
    pub bias: f64,
    /// The error of the number of bases of one haplotype.
    pub genome_size: f64,
    /// The error of the number of bases of one haplotype that occur once in it.
    pub unique_size: f64,
    /// The error of the number of bases of one haplotype that occur more than once in it.
    pub repeat_size: f64,
    /// The error of the fraction of the genome that occurs more than once.
    pub repeats: f64,
    /// The error of the heterozygosity.
    pub heterozygosity: f64,
    /// The error of the rate of each pattern, in the order of [`Model::patterns`](super::Model::patterns).
    pub patterns: Vec<f64>,
    /// The error of the fraction of the unique genome that is duplicated.
    pub duplication: f64,
    /// The error of the number of errors per base of the reads; `None` if the error rate is.
    pub error_rate: Option<f64>,
}

/// The numbers that the values are made of, apart from the fit; all counts are those of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// The count below which the excess over the model is errors.
    pub(super) end: usize,
    /// The number of occurrences of k-mers without errors.
    pub(super) good: f64,
    /// The number of occurrences of all k-mers.
    pub(super) total: f64,
    pub(super) genome_size: f64,
    pub(super) unique_size: f64,
}

/// The number of counts on either side over which squared residuals are averaged.
const AROUND: usize = 4;
/// The largest variance of the shared bias, which is between 0 and 1: that of a uniform distribution.
const MAX_SHARED_VARIANCE: f64 = 1.0 / 12.0;
/// The step of derivatives by fractions.
const STEP: f64 = 1e-5;

/// The derivatives of a value by the number of k-mers of each count, from 0.
type Influence = Vec<f64>;

/// Returns the standard errors of the values of a fit to a view of rows, or `None` if the parameters do not
/// determine each other.
pub(super) fn standard_errors(
    rows: &Rows,
    view: &View,
    fit: &Fit,
    made: &Made,
) -> Option<StandardErrors> {
    let (from, to) = fit.range;
    let slopes = slopes(fit, to);
    let parameters = parameters(fit, &slopes, from)?;
    let variances = variances(rows, view, fit);
    let part = view.part;
    let values = fit.values();
    let ploidy = f64::from(fit.shape.ploidy);
    let coverage = values.coverage / part;
    let error = |influence: &[f64]| -> f64 {
        let squares = influence.iter().zip(&variances).map(|(slope, v)| slope * slope * v);
        squares.sum::<f64>().sqrt()
    };
    let sum = |terms: &[(f64, &[f64])]| -> Influence {
        let at = |at: usize| terms.iter().map(|(factor, one)| factor * one[at]).sum();
        (0..=to).map(at).collect()
    };

    // Occurrences of k-mers without errors: all from `end` on, and below it those of the model.
    let (good, total) = occurrences(&slopes, &parameters, (to, part), made.end);
    let size = sum(&[
        (1.0 / (ploidy * coverage), &good),
        (-made.genome_size / values.coverage, &parameters[COVERAGE]),
    ]);
    let unique = if made.unique_size < made.genome_size {
        let factors = (1.0 - values.duplication, -values.length);
        sum(&[(factors.0, &parameters[LENGTH]), (factors.1, &parameters[DUPLICATION])])
    } else {
        size.clone()
    };
    let repeats = sum(&[
        (-1.0 / made.genome_size, &unique),
        (made.unique_size / made.genome_size.powi(2), &size),
    ]);
    let share = made.good / made.total;
    let by_share = share.powf(1.0 / fit.shape.k as f64 - 1.0) / fit.shape.k as f64;
    let errors = sum(&[(-by_share / made.total, &good), (by_share * share / made.total, &total)]);
    let rates: Vec<(f64, &[f64])> =
        parameters[OTHERS..].iter().map(|rate| (1.0, rate.as_slice())).collect();
    let found = StandardErrors {
        coverage: error(&parameters[COVERAGE]) / part,
        bias: error(&parameters[BIAS]) / part,
        genome_size: error(&size),
        unique_size: error(&unique),
        repeat_size: error(&sum(&[(1.0, &size), (-1.0, &unique)])),
        repeats: error(&repeats),
        heterozygosity: error(&sum(&rates)),
        patterns: rates.iter().map(|(_, rate)| error(rate)).collect(),
        duplication: error(&parameters[DUPLICATION]),
        error_rate: Some(error(&errors)),
    };
    (found.genome_size.is_finite() && found.heterozygosity.is_finite()).then_some(found)
}

/// Returns the derivatives, by the number of k-mers of each count up to `to`, of the occurrences of k-mers without
/// errors and of all occurrences. Counts of the view times 1 / `part` are those of the file.
fn occurrences(
    slopes: &[Vec<f64>],
    parameters: &[Influence],
    (to, part): (usize, f64),
    end: usize,
) -> (Influence, Influence) {
    let count = |at: usize| at as f64 / part;
    let total: Influence = (0..=to).map(count).collect();
    let mut good = total.clone();
    let end = ((end as f64 * part) as usize).min(to + 1);
    good[..end].fill(0.0);
    for (slope, parameter) in slopes.iter().zip(parameters) {
        let by: f64 = (0..end).map(|at| count(at) * slope[at]).sum();
        good.iter_mut().zip(parameter).for_each(|(good, one)| *good += by * one);
    }
    (good, total)
}

/// Returns the derivatives of the numbers of k-mers of each count, from 0 to `to`, by each parameter.
fn slopes(fit: &Fit, to: usize) -> Vec<Vec<f64>> {
    let values = fit.values();
    let base = fit.expected(0, to);
    let slope = |change: &dyn Fn(&mut Values), step: f64| -> Vec<f64> {
        let mut near = values.clone();
        change(&mut near);
        let near = Fit::of(&fit.shape, &near).expected(0, to);
        near.iter().zip(&base).map(|(near, base)| (near - base) / step).collect()
    };
    // Steps are away from the bounds.
    let inner = |value: f64, step: f64| if value > 0.5 { -step } else { step };
    let (coverage, bias) = (STEP * values.coverage, 1e-3 * values.bias.max(0.01));
    let shared = inner(values.shared_bias, 1e-3);
    let twice = inner(values.duplication, STEP);
    let mut slopes = vec![
        slope(&|near| near.coverage += coverage, coverage),
        slope(&|near| near.bias += bias, bias),
        slope(&|near| near.shared_bias += shared, shared),
        slope(&|near| near.length += STEP * near.length, STEP * values.length),
        slope(&|near| near.duplication += twice, twice),
    ];
    for (at, rate) in values.rates.iter().enumerate() {
        let step = inner(*rate, STEP);
        slopes.push(slope(&|near| near.rates[at] += step, step));
    }
    slopes
}

/// Returns the derivatives of each parameter by the numbers of k-mers; they are zero below the first count of the
/// fit.
fn parameters(fit: &Fit, slopes: &[Vec<f64>], from: usize) -> Option<Vec<Influence>> {
    // The bias is the same for all peaks if there is one haplotype.
    let free: Vec<usize> =
        (0..slopes.len()).filter(|at| *at != SHARED_BIAS || fit.shape.ploidy > 1).collect();
    let inverse = inverse(&free, slopes, from)?;
    let counts = slopes[0].len();
    let mut found = vec![vec![0.0; counts]; slopes.len()];
    for (row, one) in free.iter().enumerate() {
        for (column, other) in free.iter().enumerate() {
            let factor = inverse[row][column];
            let slope = &slopes[*other][from..];
            found[*one][from..].iter_mut().zip(slope).for_each(|(sum, s)| *sum += factor * s);
        }
    }
    bound_shared_bias(&mut found, &free, &inverse, fit);
    Some(found)
}

/// Reduces the part of the shared bias in all parameters: its bounds leave it a smaller variance than the
/// histogram alone would.
fn bound_shared_bias(found: &mut [Influence], free: &[usize], inverse: &Matrix, fit: &Fit) {
    let Some(place) = free.iter().position(|at| *at == SHARED_BIAS) else { return };
    let expected = fit.expected(0, found[0].len() - 1);
    let shared = found[SHARED_BIAS].clone();
    let variance: f64 = shared.iter().zip(expected).map(|(one, v)| one * one * v).sum();
    let keep = (MAX_SHARED_VARIANCE / variance).sqrt();
    if keep >= 1.0 {
        return;
    }
    for (row, at) in free.iter().enumerate() {
        let along = (1.0 - keep) * inverse[row][place] / inverse[place][place];
        found[*at].iter_mut().zip(&shared).for_each(|(one, shared)| *one -= along * shared);
    }
}

/// Returns the inverse of JᵀJ for the free parameters, or `None` if it is singular.
fn inverse(free: &[usize], slopes: &[Vec<f64>], from: usize) -> Option<Matrix> {
    let product = |one: usize, other: usize| -> f64 {
        slopes[one][from..].iter().zip(&slopes[other][from..]).map(|(a, b)| a * b).sum()
    };
    let scales: Few = free.iter().map(|at| product(*at, *at).sqrt().max(1e-100)).collect();
    let row = |(one, scale): (&usize, &f64)| -> Few {
        free.iter().zip(&scales).map(|(other, by)| product(*one, *other) / scale / by).collect()
    };
    let matrix: Matrix = free.iter().zip(&scales).map(row).collect();
    let column = |at: usize| -> Option<Few> {
        let unit: Few = (0..free.len()).map(|other| f64::from(u8::from(other == at))).collect();
        let solved = solve(matrix.clone(), unit)?;
        Some(solved.iter().zip(&scales).map(|(value, by)| value / by / scales[at]).collect())
    };
    (0..free.len()).map(column).collect()
}

/// Returns the variance of the number of k-mers of each count from 0 to the end of the fit.
fn variances(rows: &Rows, view: &View, fit: &Fit) -> Vec<f64> {
    let (from, to) = fit.range;
    let expected = fit.expected(0, to);
    let thinned = view.part < 1.0;
    let low = if thinned { vec![0.0; from] } else { rows.dense(from) };
    let squared = |at: usize| (view.observed[at] - expected[at]).powi(2);
    let variance = |at: usize| {
        let (first, last) = (at.saturating_sub(AROUND).max(from), (at + AROUND).min(to));
        let near = (first..=last).map(squared).sum::<f64>() / (last + 1 - first) as f64;
        near.max(expected[at])
    };
    low.into_iter().take(from).chain((from..=to).map(variance)).collect()
}
