//! The model of a histogram of k-mers: genome size, heterozygosity, coverage, error rate.
//!
//! It is the model of GenomeScope 2 (Ranallo-Benavidez et al. 2020): the k-mers of a genome lie in peaks at
//! one, two, three, ... times the coverage of one haplotype, each a negative binomial. The heights of the peaks
//! follow from the rates at which haplotypes differ and from the duplicated part of the genome. What remains of
//! the low counts are errors.

mod bins;
#[cfg(test)]
mod bootstrap;
mod doubts;
mod fit;
#[cfg(test)]
mod goldens;
mod high_copies;
mod main_peak;
mod patterns;
mod readings;
mod rows;
mod settings;
#[cfg(test)]
mod simulated;
mod standard_errors;
mod thinning;
#[cfg(test)]
mod unusual;

use crate::Error;
pub use doubts::Doubt;
use fit::{Fit, Shape, Values};
use readings::Choice;
use rows::Rows;
pub use settings::Settings;
pub use standard_errors::StandardErrors;
use standard_errors::{Made, standard_errors};
use thinning::{MAX_COUNTS, View};

/// A model that was fitted to a histogram.
#[derive(Clone, Debug)]
pub struct Model {
    /// The length of k-mers.
    pub k: usize,
    /// The number of copies of the genome in a cell, 1 to 6.
    pub ploidy: u32,
    /// The mean count of a k-mer that one haplotype has once.
    pub coverage: f64,
    /// The overdispersion of the first peak relative to Poisson: variance over mean, less 1.
    pub bias: f64,
    /// The exponent, 0 to 1, with which the overdispersion grows with the number of haplotypes of a peak: 0 if
    /// the coverages of haplotypes vary independently, 1 if they vary together. It has no meaning for ploidy 1.
    pub shared_bias: f64,
    /// The number of bases of one haplotype, including repeats.
    pub genome_size: f64,
    /// The number of bases of one haplotype that occur once in it.
    pub unique_size: f64,
    /// The number of differences between the haplotypes per base; 0 for ploidy 1.
    pub heterozygosity: f64,
    /// The rate of differences of each pattern of haplotypes: for ploidy 4, `aaab` if one of them differs from
    /// three others. Empty for ploidy 1.
    pub patterns: Vec<(&'static str, f64)>,
    /// The fraction of the unique genome that is duplicated.
    pub duplication: f64,
    /// The number of errors per base of the reads; `None` if no k-mer occurs once, because the histogram was cut.
    pub error_rate: Option<f64>,
    /// The number of occurrences of all k-mers.
    pub total_kmers: u64,
    /// The number of occurrences of k-mers with errors; `None` if the error rate is.
    pub error_kmers: Option<f64>,
    /// The standard errors of the values; `None` if the histogram does not determine them.
    pub standard_errors: Option<StandardErrors>,
    /// The fraction of the variance of the histogram, from the first dip on, that the model explains.
    pub explained: f64,
    /// The number of distinct k-mers with each count, from 0, as far as the model was fitted.
    pub observed: Vec<f64>,
    /// The numbers of distinct k-mers according to the model.
    pub expected: Vec<f64>,
    /// The count from which the model was fitted.
    pub from: usize,
    /// The doubts about the values.
    pub doubts: Vec<Doubt>,
}

/// The largest count in [`Model::observed`], since files can have any counts.
const MAX_SHOWN: usize = 1 << 20;

/// The smallest count of a peak that is modelled.
const MIN_MODELLED_PEAK: f64 = 5.0;

/// The largest plausible fraction of k-mers with errors among all k-mers of the reads.
const MAX_ERRORS: f64 = 0.99;

impl Model {
    /// Fits the model to a histogram of k-mers of length `k`: counts from 1 with the number of distinct k-mers
    /// that have each, one row per count, in any order. `ploidy` is 1 to 6.
    ///
    /// # Errors
    /// If the histogram cannot be fitted, or the ploidy is invalid.
    pub fn fit(histogram: &[(u32, u64)], k: usize, ploidy: u32) -> Result<Model, Error> {
        Model::fit_with(histogram, k, &Settings { ploidy, ..Settings::default() })
    }

    /// Fits the model with all settings: see [`Model::fit`].
    ///
    /// # Errors
    /// If the histogram cannot be fitted, or a setting is invalid.
    pub fn fit_with(
        histogram: &[(u32, u64)],
        k: usize,
        settings: &Settings,
    ) -> Result<Model, Error> {
        settings.check()?;
        let rows = Rows::new(histogram, settings)?;
        if rows.rows.is_empty() {
            return Err(Error::Empty);
        }
        let view = View::new(&rows, k, settings);
        let observed = &view.observed;
        let found = dip_and_peak(observed, view.errors);
        if let Some(last) = main_peak_beyond_end(&rows, &view, &found) {
            return Err(Error::BeyondEnd(last));
        }
        let (dip, peak) = found?;
        let shape = Shape::new(k, settings.ploidy, settings.topology);
        let coverage = settings.coverage.map(|coverage| coverage * view.part);
        let Choice { chosen, other } =
            readings::choose(observed, dip, peak, &shape, coverage).ok_or(Error::NoFit)?;
        let expected = chosen.expected(0, observed.len() - 1);
        let mut model = describe(&rows, &view, &expected, dip, &chosen);
        // With more errors than this, the rest would be a peak by chance.
        let most = MAX_ERRORS * model.total_kmers as f64;
        if model.error_kmers.is_some_and(|errors| errors > most) {
            return Err(Error::NoClearPeak);
        }
        if let Some(other) = other {
            let coverage = other.coverage() / view.part;
            model.doubts.push(Doubt::OtherReading {
                // Both readings have the same total of k-mers and divide it by their coverage.
                genome_size: model.genome_size * model.coverage / coverage,
                heterozygosity: other.rate(),
                coverage,
            });
        }
        model.doubt(observed, &expected, dip, view.part);
        model.doubts.extend(rows.doubts());
        model.doubt_high_copies(&rows);
        if view.error_peak >= MIN_MODELLED_PEAK {
            model.doubts.push(Doubt::ErrorPeak {
                count: view.error_peak,
                coverage: view.error_peak / f64::from(settings.ploidy),
            });
        }
        Ok(model)
    }
}

/// Returns the first dip after the `errors`, after which errors are few, and the highest peak after it.
fn dip_and_peak(observed: &[f64], errors: usize) -> Result<(usize, usize), Error> {
    let smooth = |at: usize| {
        let from = at.saturating_sub(1).max(1);
        let window = &observed[from..=(at + 1).min(observed.len() - 1)];
        window.iter().sum::<f64>() / window.len() as f64
    };
    let last = observed.len() - 1;
    if last < 16 {
        return Err(Error::NoPeak);
    }
    // A histogram that was cut begins at its smallest count.
    let first = (1..last).find(|&at| observed[at] > 0.0).ok_or(Error::NoClearPeak)?.max(errors);
    let rises = |at: &usize| smooth(at + 1) > smooth(*at) && smooth(at + 2) > smooth(*at);
    let dip = (first..last - 2).find(rises).ok_or(Error::NoPeak)?;
    let higher = |one: &usize, other: &usize| smooth(*one).total_cmp(&smooth(*other));
    let peak = (dip..last).max_by(higher).unwrap_or(dip);
    if peak < 4 || observed[peak] < 1.5 * observed[dip] {
        return Err(Error::NoClearPeak);
    }
    Ok((dip, peak))
}

/// The minimum number of k-mers in the last row for the main peak to be there; fewer may be chance.
const MIN_LAST_KMERS: f64 = 20.0;

/// Returns the last count of the histogram, in counts of the file, if the main peak is not within it: if most
/// k-mers without errors are in a row that includes all higher counts, or if the last row is almost the
/// highest.
fn main_peak_beyond_end(
    rows: &Rows,
    view: &View,
    found: &Result<(usize, usize), Error>,
) -> Option<u32> {
    let (last, kmers) = *rows.rows.last()?;
    let end = (f64::from(last) * view.part) as usize;
    let is_highest = found.is_ok_and(|(_, peak)| {
        let kmers = kmers as f64 / view.part;
        peak + 2 > end && kmers >= MIN_LAST_KMERS.max(0.5 * view.observed[peak])
    });
    let errors = |count: u32| f64::from(count) * view.part < found.map_or(3.0, |at| at.0 as f64);
    let behind = rows.rows.iter().filter(|row| !errors(row.0)).map(|row| row.1);
    let behind = behind.fold(0, u64::saturating_add);
    match rows.pile {
        Some((pile, kmers)) => (is_highest || kmers > behind).then_some(pile),
        None => is_highest.then_some(last.saturating_mul(rows.multiple)),
    }
}

fn describe(rows: &Rows, view: &View, expected: &[f64], dip: usize, fit: &Fit) -> Model {
    let Shape { k, ploidy, ref patterns } = fit.shape;
    let thin = fit;
    let fit = thin.thickened(view.part);
    let Values { coverage, bias, shared_bias, length, duplication, rates } = fit.values();
    let explained = explained(view, expected, dip, f64::from(ploidy), coverage);
    let dip = (dip as f64 / view.part) as usize;
    let last = rows.end().map_or(MAX_SHOWN, |end| MAX_SHOWN.min(end as usize));
    let last = last.min((MAX_COUNTS as f64 / view.part) as usize);
    let shown = shown(f64::from(ploidy), coverage).max(dip + 8).min(last);
    let (observed, expected) = (rows.dense(shown), fit.expected(0, shown));
    // Errors are the excess over the model at counts below the first peak.
    let most = dip.max(coverage as usize).min(shown);
    let excess = |at: usize| (observed[at] - expected[at]).max(0.0);
    // Beyond the count at which the model takes over, the excess is noise.
    let end = (1..=most).find(|&at| excess(at) < 0.05 * observed[at]).unwrap_or(dip + 1);
    let error_kmers: f64 = (1..end.max(2)).map(|at| at as f64 * excess(at)).sum();
    let total_kmers = rows.total;
    let good = total_kmers as f64 - error_kmers;
    let error_rate = 1.0 - (good / total_kmers.max(1) as f64).powf(1.0 / k as f64);
    // Without k-mers that occur once, most errors are missing.
    let whole = observed[1] > 0.0;
    let genome_size = good / (f64::from(ploidy) * coverage);
    let unique_size = (length * (1.0 - duplication)).min(genome_size);
    let made = Made { end, good, total: total_kmers as f64, genome_size, unique_size };
    let mut standard_errors = standard_errors(rows, view, thin, &made);
    standard_errors.iter_mut().filter(|_| !whole).for_each(|one| one.error_rate = None);
    Model {
        k,
        ploidy,
        coverage,
        bias,
        shared_bias,
        genome_size,
        unique_size,
        heterozygosity: fit.rate(),
        patterns: patterns.names().zip(rates).collect(),
        duplication,
        error_rate: whole.then_some(error_rate),
        total_kmers,
        error_kmers: whole.then_some(error_kmers),
        standard_errors,
        explained,
        observed,
        expected,
        from: dip,
        doubts: Vec::new(),
    }
}

/// Returns the last count of interest, which is after the last peak.
fn shown(ploidy: f64, coverage: f64) -> usize {
    ((2.0 * ploidy + 2.0).max(6.0) * coverage) as usize + 4
}

/// Returns the fraction of the variance that the fit explains, from the dip to the end of the last peak.
/// `coverage` is in counts of the histogram.
fn explained(view: &View, expected: &[f64], dip: usize, ploidy: f64, coverage: f64) -> f64 {
    let to = readings::within(shown(ploidy, coverage * view.part), dip, &view.observed);
    let (tail, expected) = (&view.observed[dip..=to], &expected[dip..=to]);
    let mean = tail.iter().sum::<f64>() / tail.len() as f64;
    let variance: f64 = tail.iter().map(|value| (value - mean).powi(2)).sum();
    (1.0 - fit::squares(tail, expected) / variance.max(1.0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a histogram that is the model itself, with errors added at low counts.
    fn made(ploidy: u32, values: [f64; 5]) -> Vec<(u32, u64)> {
        made_with(ploidy, values, 0.5)
    }

    fn made_with(ploidy: u32, values: [f64; 5], shared_bias: f64) -> Vec<(u32, u64)> {
        let [coverage, bias, length, rate, duplication] = values;
        let rates = std::iter::repeat_n(rate, ploidy as usize - 1).collect();
        let values = Values { coverage, bias, shared_bias, length, duplication, rates };
        let expected = Fit::of(&Shape::new(21, ploidy, 0), &values).expected(0, 1500);
        let row = |count: u32| {
            let errors = 4e6 * 0.15f64.powi(count as i32 - 1);
            (count, (expected[count as usize] + errors).round() as u64)
        };
        (1..1500).map(row).collect()
    }

    #[test]
    fn numbers_beyond_all_are_the_largest() {
        let histogram: Vec<(u32, u64)> = made(1, [30.0, 1.0, 5e5, 0.0, 0.0])
            .iter()
            .map(|&(count, number)| (count, number << 40))
            .collect();
        assert_eq!(Model::fit(&histogram, 21, 1).map(|model| model.total_kmers), Ok(u64::MAX));
    }

    #[test]
    fn the_model_finds_its_own_values() {
        for (ploidy, values) in [
            (2, [25.0, 0.4, 3e6, 0.01, 0.05]),
            (2, [40.0, 1.2, 8e6, 0.001, 0.1]),
            (2, [18.0, 0.2, 5e6, 0.03, 0.02]),
            (1, [60.0, 0.5, 5e6, 0.0, 0.02]),
        ] {
            let model = Model::fit(&made(ploidy, values), 21, ploidy).unwrap();
            let close = |found: f64, wanted: f64, within: f64| {
                assert!((found - wanted).abs() <= within * wanted, "{found} {wanted}: {model:?}");
            };
            close(model.coverage, values[0], 0.01);
            close(model.unique_size, values[2] * (1.0 - values[4]), 0.02);
            close(model.genome_size, values[2] * (1.0 + values[4]), 0.03);
            if ploidy == 2 {
                close(model.heterozygosity, values[3], 0.05);
            }
            assert!(model.explained > 0.999, "{model:?}");
        }
    }

    #[test]
    fn the_model_finds_the_shared_bias() {
        for shared in [0.0, 0.4, 1.0] {
            let made = made_with(2, [30.0, 1.0, 5e6, 0.008, 0.03], shared);
            let model = Model::fit(&made, 21, 2).unwrap();
            assert!((model.shared_bias - shared).abs() < 0.05, "{shared}: {model:?}");
            assert!((model.heterozygosity - 0.008).abs() < 0.0001, "{shared}: {model:?}");
            assert!((model.bias - 1.0).abs() < 0.05, "{shared}: {model:?}");
        }
    }

    #[test]
    fn histograms_without_a_peak_are_refused() {
        assert_eq!(Model::fit(&[], 21, 2).unwrap_err(), Error::Empty);
        let falling: Vec<(u32, u64)> = (1..40).map(|count| (count, 1 << (40 - count))).collect();
        let chance = [(1, 9_000_000), (2, 40_000), (3, 900), (10, 1), (11, 4), (12, 1)];
        assert_eq!(Model::fit(&chance, 21, 2).unwrap_err(), Error::NoClearPeak);
        let error = Model::fit(&falling, 21, 2).unwrap_err().to_string();
        assert!(error.contains("coverage is too low"), "{error}");
    }
}
