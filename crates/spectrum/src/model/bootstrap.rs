//! A parametric bootstrap: standard errors include the truth about as often as they should.

use super::fit::{Fit, Shape, Values};
use super::simulated::{K, Normal};
use super::{Model, StandardErrors};

/// A value of a model, its truth, and its standard error.
type Value = (&'static str, f64, fn(&Model) -> f64, fn(&StandardErrors) -> f64);

const RUNS: u64 = 60;

/// Fits the model to histograms that are random about `expected`, and returns, for each value, the fraction of the
/// fits that are within 1.96 standard errors of the truth, and the ratio of the mean standard error to the standard
/// deviation of the values.
fn within(expected: &[f64], ploidy: u32, values: &[Value]) -> Vec<(f64, f64)> {
    let fit = |seed: u64| {
        let mut random = Normal(seed);
        let row = |(count, expected): (u32, &f64)| (count, random.about(*expected));
        let found: Vec<(u32, u64)> = (0..).zip(expected).skip(1).map(row).collect();
        Model::fit(&found, K, ploidy).unwrap()
    };
    let models: Vec<Model> = (0..RUNS).map(|run| fit(1000 + run)).collect();
    let runs = RUNS as f64;
    let check = |&(_, truth, value, error): &Value| {
        let found: Vec<(f64, f64)> = models
            .iter()
            .map(|model| (value(model), error(model.standard_errors.as_ref().unwrap())))
            .collect();
        let inside = found.iter().filter(|(v, e)| (v - truth).abs() <= 1.96 * e).count();
        let mean = found.iter().map(|(v, _)| v).sum::<f64>() / runs;
        let variance = found.iter().map(|(v, _)| (v - mean).powi(2)).sum::<f64>() / (runs - 1.0);
        let error = found.iter().map(|(_, e)| e).sum::<f64>() / runs;
        (inside as f64 / runs, error / variance.sqrt())
    };
    values.iter().map(check).collect()
}

#[test]
fn standard_errors_include_the_truth() {
    for (ploidy, coverage, bias, shared, rates) in
        [(1, 20.0, 0.5, 0.0, vec![]), (2, 20.0, 0.6, 0.5, vec![0.005])]
    {
        let (length, twice): (f64, f64) = (1e6, 0.05);
        let made = Values {
            coverage,
            bias,
            shared_bias: shared,
            length,
            duplication: twice,
            rates: rates.iter().copied().collect(),
        };
        let mut expected = Fit::of(&Shape::new(K, ploidy, 0), &made).expected(0, 400);
        let all = |e: &[f64]| -> f64 { e.iter().zip(0u32..).map(|(n, c)| n * f64::from(c)).sum() };
        let good = all(&expected);
        for (count, number) in (1..).zip(&mut expected[1..]) {
            *number += 4e6 * 0.04f64.powi(count - 1);
        }
        let error_rate = 1.0 - (good / all(&expected)).powf(1.0 / K as f64);
        let size = length * (1.0 + twice);
        let values: Vec<Value> = vec![
            ("coverage", coverage, |m| m.coverage, |e| e.coverage),
            ("genome_size", size, |m| m.genome_size, |e| e.genome_size),
            ("unique_size", length * (1.0 - twice), |m| m.unique_size, |e| e.unique_size),
            ("duplication", twice, |m| m.duplication, |e| e.duplication),
            ("error_rate", error_rate, |m| m.error_rate.unwrap(), |e| e.error_rate.unwrap()),
            ("bias", bias, |m| m.bias, |e| e.bias),
            ("heterozygosity", rates.iter().sum(), |m| m.heterozygosity, |e| e.heterozygosity),
        ];
        let found = within(&expected, ploidy, &values);
        for ((name, ..), (inside, ratio)) in values.iter().zip(found) {
            if *name == "heterozygosity" && ploidy == 1 {
                continue;
            }
            // Of 60 fits, 95 % are 57; the standard deviation is 1.7.
            assert!(inside >= 0.86, "{ploidy} {name}: {inside} are within 1.96 standard errors");
            assert!((0.75..1.5).contains(&ratio), "{ploidy} {name}: {ratio} of the deviation");
        }
    }
}
