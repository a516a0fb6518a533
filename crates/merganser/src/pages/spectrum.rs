//! Data of k-mer histograms.

use merganser_kmers::Histogram;
use merganser_report::data::{Data, Spectrum};
use merganser_report::text;
use merganser_spectrum::Model;

use crate::console::Console;
use crate::failure::with_flags;
use crate::progress::width;

/// The ploidy that is assumed if none is given, as GenomeScope does.
const PLOIDY: u32 = 2;

/// Returns a histogram of counts and, if there is one, its model.
pub(crate) fn of(histogram: &Histogram, k: usize, model: Option<&Model>) -> Spectrum {
    let rows = histogram.iter().map(|(count, kmers)| (count.into(), kmers)).collect();
    Spectrum { k, rows, model: model.map(Into::into) }
}

/// Adds a histogram to the data of a page, with a diploid model if one fits.
pub(crate) fn add(data: &mut Data, histogram: &Histogram, k: usize) {
    let (spectrum, notes, warnings) = modelled(histogram, k);
    data.spectrum = Some(spectrum);
    data.notes.extend(notes);
    data.warnings.extend(warnings);
}

/// The maximum numbers of columns and rows of a plot on a terminal.
const COLUMNS: usize = 100;
const ROWS: usize = 12;

/// Prints what a spectrum's model says, and a plot.
pub(crate) fn print(spectrum: &Spectrum, console: &Console) {
    let columns = width().saturating_sub(1).min(COLUMNS);
    console.plot(&(text::words(spectrum) + &text::spectrum(spectrum, columns, ROWS)));
}

/// Returns a histogram with a diploid model, if one fits, with notes and warnings.
pub(crate) fn modelled(histogram: &Histogram, k: usize) -> (Spectrum, Vec<String>, Vec<String>) {
    let rows: Vec<_> = histogram.iter().collect();
    let model = match Model::fit(&rows, k, PLOIDY) {
        Ok(model) if model.is_useful() => model,
        Ok(model) => {
            let part = 100.0 * model.explained;
            let why = format!(
                "No model is drawn: a model of ploidy {PLOIDY} explains only {part:.0} % of this histogram."
            );
            return (of(histogram, k, None), vec![why], Vec::new());
        }
        Err(why) => {
            let why = format!("No model is drawn: {why}.");
            return (of(histogram, k, None), vec![why], Vec::new());
        }
    };
    let taken = format!(
        "The model assumes ploidy {PLOIDY}; `merganser kmers histogram --model --ploidy N --report-html` \
         draws one of ploidy N."
    );
    let doubts = model.doubts.iter().map(|doubt| with_flags(&doubt.to_string()));
    (of(histogram, k, Some(&model)), vec![taken], doubts.collect())
}
