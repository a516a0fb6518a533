//! The outputs beside the table.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_count::{Error, Histogram};
use merganser_io::{Input, Output};

use crate::args::CountArgs;
use crate::args::count::Format;
use crate::common::refuse_to_replace;

/// Open outputs, so that one that cannot be written ends the run before it begins.
pub(super) struct Outputs {
    histogram: Option<Output>,
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
        Ok(Outputs { histogram: open(&args.histogram)?, json: open(&args.json)? })
    }

    /// Writes the histogram if one was asked for, and returns the output of the JSON summary and
    /// the number of k-mers that `--hist-max` left out.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_histogram(
        self,
        histogram: &Histogram,
        args: &CountArgs,
    ) -> Result<(Option<Output>, u64)> {
        let Some(mut output) = self.histogram else { return Ok((self.json, 0)) };
        let most = args.hist_max.unwrap_or(u32::MAX);
        let beyond = histogram.write(most, &mut output).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
        Ok((self.json, beyond))
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
