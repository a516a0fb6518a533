//! Options of demultiplexing.

use merganser_run::ConfigError;
use serde::Serialize;

use crate::{Error, MAX_PATTERN};

/// Options of demultiplexing.
// The comments of fields with an `arg` attribute are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct BarcodeOptions {
    /// Letters at each end of a read in which barcodes are searched
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 150))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Barcodes"))]
    pub window: usize,
    /// Edits that the best sample must have less than every other one; otherwise, the read is ambiguous
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Barcodes"))]
    pub margin: usize,
    /// Require single barcodes at both ends of a read
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Barcodes"))]
    pub both_ends: bool,
    /// Remove barcodes, and everything between them and the ends, from reads
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Barcodes"))]
    pub trim: bool,
}

impl Default for BarcodeOptions {
    fn default() -> BarcodeOptions {
        BarcodeOptions { window: 150, margin: 1, both_ends: false, trim: false }
    }
}

impl BarcodeOptions {
    /// The maximum of `window`: both windows of 512 reads are in memory at a time.
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
            _ if !(1..=MAX_PATTERN).contains(&self.margin) => {
                "`margin` is out of range: 1 to 128"
            }
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }
}
