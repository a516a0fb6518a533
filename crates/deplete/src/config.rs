//! The configuration of depletion.

use merganser_run::ConfigError;
use serde::Serialize;

use crate::{Error, Thresholds};

/// The configuration of depletion. The defaults are those of Deacon.
// These comments are the help texts of the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// The thresholds of a match.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub thresholds: Thresholds,
    /// Look only at the first N bases of each read; 0 looks at all
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub prefix_length: usize,
    /// Ignore minimizers of the set that are less complex than R, 0 to 1, such as repeats of two bases
    // The complexity of a minimizer is 1 minus its DUST score over that of a single repeated base, in single precision.
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "R", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub complexity_threshold: f64,
    /// Keep the matching reads, and remove the others
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Decision"))]
    pub keep: bool,
    /// Replace names by numbers: 1, 2 and so on; mates have the same number
    // In the order of the output, with `/1` and `/2` after the numbers of mates.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub rename: bool,
    /// Pairs mates by their position in the inputs, whatever their names. Otherwise, names must be
    /// [those of mates](merganser_io::are_mates).
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub any_names: bool,
}

impl Config {
    /// Checks the thresholds, and the complexity.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        self.thresholds.validate()?;
        match (0.0..=1.0).contains(&self.complexity_threshold) {
            true => Ok(()),
            false => {
                let problem = "`complexity_threshold` is out of range: 0 to 1";
                Err(Error::Config(ConfigError::new(problem)))
            }
        }
    }
}
