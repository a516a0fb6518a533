//! Data of k-mer histograms.

use merganser_kmers::Histogram;
use merganser_report::data::{Model as Drawn, Spectrum, StandardErrors};
use merganser_spectrum::Model;

use crate::failure::with_flags;

/// The fraction of the histogram that a model must explain to be drawn without a request.
const EXPLAINED: f64 = 0.9;
/// The ploidy that is assumed if none is given, as GenomeScope does.
const PLOIDY: u32 = 2;

/// Returns a histogram of counts and, if there is one, its model.
pub(crate) fn of(histogram: &Histogram, k: usize, model: Option<&Model>) -> Spectrum {
    let rows = histogram.iter().map(|(count, kmers)| (count.into(), kmers)).collect();
    Spectrum { k, rows, model: model.map(drawn) }
}

/// Returns a histogram with a diploid model, if one fits, and warnings.
pub(crate) fn modelled(histogram: &Histogram, k: usize) -> (Spectrum, Vec<String>) {
    let rows: Vec<_> = histogram.iter().collect();
    let model = match Model::fit(&rows, k, PLOIDY) {
        Ok(model) if model.explained >= EXPLAINED => model,
        Ok(model) => {
            let part = 100.0 * model.explained;
            let why = format!(
                "No model is drawn: a model of ploidy {PLOIDY} explains only {part:.0} % of this histogram."
            );
            return (of(histogram, k, None), vec![why]);
        }
        Err(why) => return (of(histogram, k, None), vec![format!("No model is drawn: {why}.")]),
    };
    let taken = format!(
        "The model assumes ploidy {PLOIDY}; `merganser kmers histogram --model --ploidy N --report-html` \
         draws one of ploidy N."
    );
    let doubts = model.doubts.iter().map(|doubt| with_flags(&doubt.to_string()));
    let warnings = [taken].into_iter().chain(doubts).collect();
    (of(histogram, k, Some(&model)), warnings)
}

fn drawn(model: &Model) -> Drawn {
    // Tenths of a k-mer are invisible.
    let tenths = |value: &f64| (10.0 * value).round() / 10.0;
    Drawn {
        ploidy: model.ploidy,
        coverage: model.coverage,
        genome_size: model.genome_size,
        unique_size: model.unique_size,
        heterozygosity: model.heterozygosity,
        duplication: model.duplication,
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
