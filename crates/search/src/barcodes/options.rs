//! Options of barcodes and adapters.

use merganser_run::ConfigError;
use serde::Serialize;

use crate::{Error, MAX_PATTERN};

/// Options of demultiplexing and trimming.
// The comments of fields with an `arg` attribute are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct BarcodeOptions {
    /// Write the reads without their barcodes and all letters outside these; with -p or --patterns: without adapters
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Barcodes"))]
    pub trim: bool,
    /// Write a read of which no letter is left as a single N of quality 0, so that files of mates keep their order
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Barcodes", requires = "trim"))]
    #[cfg_attr(feature = "cli", arg(conflicts_with = "demultiplex"))]
    pub keep_empty: bool,
    /// Letters at each end of a read in which barcodes are searched
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 150))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Barcodes", requires = "by_ends"))]
    pub window: usize,
    /// Edits that every other sample must have more than the best one; otherwise, the read is ambiguous
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    // clap does not require an option that conflicts with a given one, such as -p.
    #[cfg_attr(feature = "cli", arg(help_heading = "Barcodes", requires = "demultiplex"))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["pattern", "patterns", "primers"]))]
    pub margin: usize,
    /// Require the barcode at both ends of a read, if samples have one barcode
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Barcodes", requires = "demultiplex"))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["pattern", "patterns", "primers"]))]
    pub both_ends: bool,
}

impl Default for BarcodeOptions {
    fn default() -> BarcodeOptions {
        BarcodeOptions { trim: false, keep_empty: false, window: 150, margin: 1, both_ends: false }
    }
}

impl BarcodeOptions {
    /// The maximum of `window`: both windows of 256 reads are in memory at a time.
    const MAX_WINDOW: usize = 10_000;

    /// Checks the ranges of the options.
    ///
    /// # Errors
    /// [`Error::Config`], naming the option.
    pub fn validate(&self) -> Result<(), Error> {
        let problem = match self {
            _ if !(1..=Self::MAX_WINDOW).contains(&self.window) => {
                "`window` is out of range: 1 to 10000"
            }
            _ if !(1..=MAX_PATTERN).contains(&self.margin) => "`margin` is out of range: 1 to 128",
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }
}
