//! Pages and plots of a histogram.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_io::{Input, Output, OutputSet};
use merganser_kmers::{Error, Histogram};
use merganser_report::data::Data;
use merganser_report::model as picture;
use merganser_report::multiqc::Kind;
use merganser_report::plot::{Chart, Options, plot};
use merganser_spectrum::Model;

use crate::args::kmers::HistogramArgs;
use crate::console::Console;
use crate::holds::Holds;
use crate::pages::{Pages, drawn, frame, parameter, spectrum};

/// The resolution of plots in dots per inch.
const DPI: u32 = 192;
/// Open outputs for pages and plots.
pub(super) struct Shown {
    pages: Pages,
    plot: Option<Output>,
}

/// Returns the path of the plot, if it is written to a file.
fn plot_path(args: &HistogramArgs) -> Option<&Path> {
    args.plot.as_deref().filter(|path| path.as_os_str() != "-")
}

pub(super) fn paths(args: &HistogramArgs) -> Vec<(Holds, PathBuf)> {
    let mut paths = Pages::paths(&args.pages, Kind::Spectrum, None);
    paths.extend(plot_path(args).map(|path| (Holds::PICTURE, path.to_owned())));
    paths
}

impl Shown {
    /// Creates the files.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn create(args: &HistogramArgs, set: &OutputSet) -> Result<Shown> {
        let pages = Pages::create(&args.pages, Kind::Spectrum, None, set).map_err(Error::from)?;
        let plot = plot_path(args).map(|path| set.output(path)).transpose();
        Ok(Shown { pages, plot: plot.map_err(Error::from)? })
    }

    /// Writes the requested pages and plots of a histogram with its k, and of its model if there is one. A plot for the
    /// terminal is printed at once.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn write(
        self,
        args: &HistogramArgs,
        (histogram, k): (&Histogram, usize),
        model: Option<&Model>,
        warnings: impl IntoIterator<Item = String>,
        console: &Console,
    ) -> Result<()> {
        let Shown { pages, plot: output } = self;
        if !Pages::is_wanted(&args.pages) && args.plot.is_none() {
            return Ok(());
        }
        let input = Input::File(args.table.clone());
        let mut data = frame("kmers histogram", &args.pages, None, [&input].into_iter());
        data.parameters.push(parameter("k", k));
        data.parameters.extend(model.map(|model| parameter("ploidy", model.ploidy)));
        data.warnings.extend(warnings);
        let spectrum = spectrum::of(histogram, k, model);
        if args.plot.as_deref().is_some_and(|path| path.as_os_str() == "-") {
            spectrum::print(&spectrum, console);
        }
        data.spectrum = Some(spectrum);
        if let Some(output) = output {
            write_plot(args, output, model, &data)?;
        }
        pages.write(Kind::Spectrum, data)
    }
}

/// Writes the plot of a model, or of a histogram without one.
fn write_plot(
    args: &HistogramArgs,
    mut output: Output,
    model: Option<&Model>,
    data: &Data,
) -> Result<()> {
    let picture = match model {
        Some(model) => picture::picture(model),
        None => plot(std::slice::from_ref(data), Chart::Spectrum, &Options::default())?,
    };
    let bytes = drawn(&picture, plot_path(args).unwrap_or(Path::new("")), DPI)?;
    output.write_all(&bytes).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    Ok(())
}
