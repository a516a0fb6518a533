//! What is removed and how the rest is written: plain data, checked once.

use serde::Serialize;

use crate::{Error, Thresholds};

/// What is removed and how the rest is written. The default is Deacon's.
// These comments are the help of the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// What makes a read or pair a match.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub thresholds: Thresholds,
    /// Look at the first N bases of each read; 0: at all
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub prefix_length: usize,
    /// Keep what matches, and remove the others
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Decision"))]
    pub keep: bool,
    /// Name what is kept 1, 2 and so on; mates have one number
    // In the order of the output, with `/1` and `/2` behind the number of mates.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub rename: bool,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub any_names: bool,
}

impl Config {
    /// Checks the thresholds.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        self.thresholds.validate()
    }
}
