//! The configuration of depletion.

use merganser_run::ConfigError;
use serde::Serialize;

use crate::complexity::complexity;
use crate::word::Word;
use crate::{Error, Params, Thresholds};

merganser_run::named! {
    /// How the host's stretches of a read are masked.
    pub enum Mask {
        /// By N.
        N = "n",
        /// By letters in lower case.
        Lower = "lower",
    }
}

impl Mask {
    /// Returns the letter that takes the place of another one.
    pub(crate) fn masked(self, letter: u8) -> u8 {
        match self {
            Mask::N => b'N',
            Mask::Lower => letter.to_ascii_lowercase(),
        }
    }
}

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
    /// Keep all reads, and mask the host's stretches of matching reads, by N or by letters in lower case
    // A stretch is a window, or several that overlap, whose minimizer is in the set.
    #[cfg_attr(feature = "cli", arg(long, value_name = "n|lower", help_heading = "Decision"))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["keep", "confirm", "output_matching"]))]
    pub mask: Option<Mask>,
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
    /// Whether a minimizer is not ignored for its low complexity.
    #[inline(always)]
    pub(crate) fn counts<W: Word>(&self, params: Params, value: W) -> bool {
        let least = self.complexity_threshold as f32;
        least == 0.0 || complexity(params, value) >= least
    }

    /// Checks the thresholds, and the complexity.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        if self.mask.is_some() && self.keep {
            let problem = "`mask` masks matching reads, and `keep` keeps them: use one of the two";
            return Err(Error::Config(ConfigError::new(problem)));
        }
        if !(0.0..=1.0).contains(&self.complexity_threshold) {
            let problem = "`complexity_threshold` is out of range: 0 to 1";
            return Err(Error::Config(ConfigError::new(problem)));
        }
        self.thresholds.validate()
    }
}
