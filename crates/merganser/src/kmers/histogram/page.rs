//! What a page says of a histogram.

use std::path::PathBuf;

use anyhow::Result;
use merganser_io::{Input, OutputSet};
use merganser_kmers::{Error, Histogram};
use merganser_report::multiqc::Kind;
use merganser_spectrum::Model;

use crate::args::kmers::HistogramArgs;
use crate::pages::{Pages, frame, parameter, spectrum};

pub(super) fn paths(args: &HistogramArgs) -> Vec<PathBuf> {
    Pages::paths(&args.pages, Kind::Spectrum, None)
}

/// Begins the files.
///
/// # Errors
/// If one cannot be made.
pub(super) fn create(args: &HistogramArgs, set: &OutputSet) -> Result<Pages> {
    Ok(Pages::create(&args.pages, Kind::Spectrum, None, set).map_err(Error::from)?)
}

/// Writes what was asked for of a histogram with its k, and its model if there is one.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(
    args: &HistogramArgs,
    pages: Pages,
    (histogram, k): (&Histogram, usize),
    model: Option<&Model>,
    warnings: impl IntoIterator<Item = String>,
) -> Result<()> {
    if !Pages::is_wanted(&args.pages) {
        return Ok(());
    }
    let input = Input::File(args.table.clone());
    let mut data = frame("kmers histogram", &args.pages, None, [&input].into_iter());
    data.parameters.push(parameter("k", k));
    data.parameters.extend(model.map(|model| parameter("ploidy", model.ploidy)));
    data.warnings.extend(warnings);
    data.spectrum = Some(spectrum::of(histogram, k, model));
    pages.write(Kind::Spectrum, &data)
}
