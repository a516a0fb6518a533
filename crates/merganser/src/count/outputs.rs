//! The outputs other than the table.

use std::path::PathBuf;

use anyhow::Result;
use merganser_count::{Error, Format};
use merganser_io::{Input, Output, OutputSet};
use merganser_kmers::Histogram;
use merganser_kmers::tables::Database;
use merganser_report::multiqc::Kind;

use crate::args::CountArgs;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds};
use crate::pages::Pages;

/// Outputs that are open, so that one that cannot be written ends the run at its start.
pub(super) struct Outputs {
    histogram: Option<Output>,
    pub(super) json: Option<Output>,
    pub(super) pages: Pages,
}

impl Outputs {
    /// Opens the outputs that were requested.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn create(args: &CountArgs, set: &OutputSet) -> Result<Outputs> {
        let open = |path: &Option<PathBuf>| {
            path.as_deref().map(|path| set.output(path)).transpose().map_err(Error::from)
        };
        let pages = Pages::create(&args.pages, Kind::Spectrum, None, set).map_err(Error::from)?;
        Ok(Outputs { histogram: open(&args.histogram)?, json: open(&args.json)?, pages })
    }

    /// Writes the histogram if it was requested, and returns the number of k-mers that `--hist-max` left out.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_histogram(
        &mut self,
        histogram: &Histogram,
        args: &CountArgs,
    ) -> Result<u64, Error> {
        let Some(mut output) = self.histogram.take() else { return Ok(0) };
        let beyond =
            histogram.write(args.histogram_format, args.config.k, args.hist_max, &mut output)?;
        output.finish()?;
        Ok(beyond)
    }
}

/// Returns the paths of the table's files.
pub(super) fn table_files(args: &CountArgs) -> Vec<PathBuf> {
    let Some(output) = args.table() else { return Vec::new() };
    match args.format() {
        Format::None => Vec::new(),
        Format::Kmc => Database::files(&output).to_vec(),
        _ => vec![output],
    }
}

/// Returns the outputs for results, with their formats.
pub(super) fn written(args: &CountArgs) -> Vec<(Holds, PathBuf)> {
    let table = Format::holds(args.given_format, Holds::COUNTED_TABLE);
    let mut files: Vec<(Holds, PathBuf)> =
        table_files(args).into_iter().map(|path| (table, path)).collect();
    files.extend(args.histogram.iter().map(|path| (Holds::LINES, path.clone())));
    files.extend(Pages::paths(&args.pages, Kind::Spectrum, None));
    files
}

/// Returns all files that the run reads and writes.
pub(super) fn files(args: &CountArgs, inputs: &[Input]) -> RunFiles {
    let panel = &args.config.panel;
    let database = panel.as_deref().and_then(Database::stem).map(|stem| Database::files(&stem));
    let files = RunFiles::new().lists(&args.inputs).inputs(inputs).read(panel);
    files
        .read(database.into_iter().flatten())
        .write_each(written(args))
        .write(Holds::JSON, &args.json)
}
