//! Plots of a model of a histogram.

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
