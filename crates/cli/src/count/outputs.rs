//! The outputs beside the table.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use merganser_count::{Error, Histogram};
use merganser_io::{Input, Output};

use crate::args::CountArgs;
use crate::args::count::Format;
use crate::common::refuse_to_replace;

/// Open outputs, so that one that cannot be written ends the run before it begins.
pub(super) struct Outputs {
    /// And the number of k-mers that `--hist-max` left out.
    histogram: Mutex<(Option<Output>, u64)>,
    json: Option<Output>,
}

impl Outputs {
    /// Opens what was asked for.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn create(args: &CountArgs) -> Result<Outputs> {
        let open = |path: &Option<PathBuf>| {
            path.as_deref().map(Output::create).transpose().map_err(Error::from)
        };
        let histogram = Mutex::new((open(&args.histogram)?, 0));
        Ok(Outputs { histogram, json: open(&args.json)? })
    }

    /// Writes the histogram if one was asked for, so that it needs but its name when the table is
    /// there: neither appears without the other.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn prepare_histogram(
        &self,
        histogram: &Histogram,
        args: &CountArgs,
    ) -> Result<(), Error> {
        let mut own = self.histogram.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut output) = own.0.take() {
            let format = args.histogram_format.into();
            let beyond = histogram.write(format, args.hist_max, &mut output)?;
            *own = (Some(output.prepare()?), beyond);
        }
        Ok(())
    }

    /// Makes the histogram appear, and returns the output of the JSON summary and the number of
    /// k-mers that `--hist-max` left out.
    ///
    /// # Errors
    /// If that fails.
    pub(super) fn finish_histogram(self) -> Result<(Option<Output>, u64)> {
        let own = self.histogram.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(output) = own.0 {
            output.finish().map_err(Error::from)?;
        }
        Ok((self.json, own.1))
    }
}

/// The files that the table goes to.
pub(super) fn table_files(args: &CountArgs) -> Vec<PathBuf> {
    let Some(output) = args.output.as_deref() else { return Vec::new() };
    match args.format {
        Format::None => Vec::new(),
        Format::Mgk | Format::Kff | Format::Tsv | Format::Parquet => vec![output.to_owned()],
        Format::Kmc => [".kmc_pre", ".kmc_suf"].map(|end| with_suffix(output, end)).to_vec(),
    }
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Sees to it that no output would take the place of an input or of another output.
///
/// # Errors
/// Which file it is.
pub(super) fn refuse_to_replace_inputs(args: &CountArgs, inputs: &[Input]) -> Result<()> {
    let mut outputs = table_files(args);
    outputs.extend([&args.histogram, &args.json].into_iter().flatten().cloned());
    refuse_to_replace(&outputs, inputs)
}
