//! Plots of a model of a histogram, and text for a terminal.

use std::fmt::Write;

use merganser_spectrum::Model;

use crate::data::{self, Spectrum, StandardErrors};
use crate::draw::Picture;
use crate::plot::{Options, lines};

impl From<&Model> for data::Model {
    fn from(model: &Model) -> data::Model {
        // Tenths of a k-mer are invisible.
        let tenths = |value: &f64| (10.0 * value).round() / 10.0;
        data::Model {
            ploidy: model.ploidy,
            coverage: model.coverage,
            genome_size: model.genome_size,
            unique_size: model.unique_size,
            heterozygosity: model.heterozygosity,
            duplication: model.duplication,
            bias: Some(model.bias),
            error_rate: model.error_rate,
            standard_errors: model.standard_errors.as_ref().map(|errors| StandardErrors {
                coverage: errors.coverage,
                genome_size: errors.genome_size,
                unique_size: errors.unique_size,
                heterozygosity: errors.heterozygosity,
                duplication: errors.duplication,
                error_rate: errors.error_rate,
            }),
            explained: model.explained,
            from: model.from,
            expected: model.expected.iter().map(tenths).collect(),
        }
    }
}

/// Plots a model: the histogram as bars, the model as a line, the peaks of the copies marked.
pub fn picture(model: &Model) -> Picture {
    let observed = (0..).zip(&model.observed).filter(|(_, kmers)| **kmers > 0.0);
    let rows = observed.map(|(count, &kmers)| (count, kmers.round() as u64)).collect();
    let spectrum = Spectrum { k: model.k, rows, model: Some(model.into()) };
    lines::spectra(&[("", &spectrum)], &Options::default())
}

/// Returns the height of the plot in k-mers. It ignores the errors at low counts, which would leave no room for
/// peaks.
fn top(model: &Model) -> f64 {
    let from = model.from.max(1);
    let tail = model.observed[from..].iter().chain(&model.expected[from..]);
    1.15 * tail.copied().fold(1.0, f64::max)
}

/// Plots a model as text. Lines begin with `# `; `#` is a bar of the histogram, `o` the model.
pub fn text(model: &Model, columns: usize, rows: usize) -> String {
    let counts = model.observed.len() - 1;
    let columns = columns.clamp(10, counts.max(10));
    let top = top(model);
    // A column has the mean of its counts.
    let mean = |values: &[f64], column: usize| {
        let from = 1 + counts * column / columns;
        let to = (1 + counts * (column + 1) / columns).max(from + 1).min(values.len());
        let some = &values[from.min(to - 1)..to];
        some.iter().sum::<f64>() / some.len() as f64
    };
    let height = |value: f64| ((value / top).min(1.0) * rows as f64).round() as usize;
    let mut out = String::new();
    for row in (1..=rows).rev() {
        out.push_str("# |");
        for column in 0..columns {
            let observed = height(mean(&model.observed, column));
            let expected = height(mean(&model.expected, column));
            out.push(match (expected == row, observed >= row) {
                (true, _) => 'o',
                (false, true) => '#',
                (false, false) => ' ',
            });
        }
        let end = out.trim_end_matches(' ').len();
        out.truncate(end);
        out.push('\n');
    }
    let _ = writeln!(out, "# +{}", "-".repeat(columns));
    let last = counts.to_string();
    let _ = writeln!(out, "#  1{last:>width$}", width = columns - 1);
    out
}
