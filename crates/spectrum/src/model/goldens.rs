//! Tests with histograms for which GenomeScope 2's own code determined the values.

use super::fit::{Fit, Shape, Values};
use super::{Model, Settings};

const LENGTH: f64 = 1e6;

/// Returns a histogram that is the model of these rates, with a tenth of the genome duplicated, and with errors
/// whose number falls to a quarter from each count to the next.
fn histogram(shape: &Shape, coverage: f64, bias: f64, rates: &[f64]) -> Vec<(u32, u64)> {
    let rates = rates.iter().copied().collect();
    let values =
        Values { coverage, bias, shared_bias: 0.0, length: LENGTH, duplication: 0.1, rates };
    let expected = Fit::of(shape, &values).expected(0, 1000);
    let row = |count: u32| {
        let errors = 1e7 * 0.25f64.powi(count as i32);
        (count, (expected[count as usize] + errors).round() as u64)
    };
    (1..=1000).map(row).collect()
}

/// Rates, coverage, bias, and the genome size and the percentage of errors that GenomeScope 2 found.
type Golden = (&'static [f64], f64, f64, f64, f64);

const GOLDENS: [Golden; 4] = [
    (&[], 30.0, 1.0, 1_100_005.0, 0.599863),
    (&[0.01], 25.0, 0.8, 1_099_990.0, 0.369362),
    (&[0.01, 0.004], 20.0, 0.7, 1_099_994.0, 0.309852),
    (&[0.01, 0.004, 0.002, 0.001], 20.0, 0.7, 1_099_999.0, 0.234349),
];

#[test]
fn values_are_those_of_genomescope() {
    for (at, (rates, coverage, bias, size, errors)) in GOLDENS.into_iter().enumerate() {
        let ploidy = at as u32 + 1;
        let found = histogram(&Shape::new(21, ploidy, 0), coverage, bias, rates);
        let model = Model::fit(&found, 21, ploidy).unwrap();
        let close = |found: f64, wanted: f64, within: f64| {
            let told = || format!("{found}, not {wanted}: {model:?}");
            assert!((found - wanted).abs() <= within * wanted, "{}", told());
        };
        close(model.coverage, coverage, 1e-3);
        close(model.bias, bias, 0.02);
        close(model.genome_size, size, 1e-3);
        close(model.error_rate.unwrap(), errors / 100.0, 0.01);
        assert_eq!(model.patterns.len(), rates.len());
        for ((_, found), wanted) in model.patterns.iter().zip(rates) {
            close(*found, *wanted, 0.02);
        }
    }
}

/// Models of ploidies and topologies without reference values find the values of their own histograms.
#[test]
fn models_of_all_topologies_find_their_own_size() {
    for (ploidy, topology) in [(4, 1), (4, 2), (5, 0), (5, 3), (6, 1), (6, 13)] {
        let shape = Shape::new(21, ploidy, topology);
        let rates: Vec<f64> =
            (0..shape.patterns.rates()).map(|at| 0.008 / (at + 1) as f64).collect();
        let found = histogram(&shape, 20.0, 0.5, &rates);
        let settings = Settings { ploidy, topology, ..Settings::default() };
        let model = Model::fit_with(&found, 21, &settings).unwrap();
        let size = model.genome_size / (1.1 * LENGTH) - 1.0;
        assert!(size.abs() < 0.01, "{ploidy} {topology}: {model:?}");
        let rate = model.heterozygosity / rates.iter().sum::<f64>() - 1.0;
        assert!(rate.abs() < 0.05, "{ploidy} {topology}: {rate} {model:?}");
    }
}
