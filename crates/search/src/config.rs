//! Options of a search: plain data that is validated once.

use merganser_filter::{Strand, Threshold};
use merganser_run::ConfigError;
use serde::Serialize;

use crate::{Error, Pam, Seed};

/// Options of a search. The hits depend only on these, the patterns and the texts.
// The comments of fields with an `arg` attribute are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Maximum edits of a hit: a number, or N% of the pattern's length, rounded down
    #[cfg_attr(feature = "cli", arg(short = 'e', long, value_name = "N|N%"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub threshold: Threshold,
    /// Allow only substitutions, no insertions or deletions
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Hits"))]
    pub hamming: bool,
    /// Strands of the text to search
    #[cfg_attr(feature = "cli", arg(long, value_name = "STRAND", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub strand: Strand,
    /// Let N in the text match every letter; otherwise it matches none
    #[cfg_attr(feature = "cli", arg(long = "match-n", help_heading = "Hits"))]
    pub n_matches: bool,
    /// Report every end of an alignment, not only the best one of each place
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Hits"))]
    pub all_ends: bool,
    /// Let patterns extend beyond the start or the end of a text, for COST edits (0 to 1) for each letter outside,
    /// rounded down on each side
    #[cfg_attr(feature = "cli", arg(long, value_name = "COST", help_heading = "Hits"))]
    pub overhang: Option<f64>,
    /// Letters that must follow a pattern exactly, such as NGG; they are part of the hit, and have no edits. Several
    /// PAMs of the same length are separated by commas (NGG,NAG): one of them must follow
    // Gaps of the pattern never reach into the PAM.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LETTERS", help_heading = "Guides"))]
    pub pam: Option<Pam>,
    /// The PAM comes before the pattern, such as TTTV of Cas12a
    #[cfg_attr(feature = "cli", arg(long, requires = "pam", help_heading = "Guides"))]
    pub pam_first: bool,
    /// Allow only EDITS edits in the LETTERS letters next to the PAM or, without one, at the pattern's end, as 12:1
    #[cfg_attr(feature = "cli", arg(long, value_name = "LETTERS:EDITS", help_heading = "Guides"))]
    pub seed: Option<Seed>,
}

impl Config {
    /// Returns the default options for a threshold: both strands, edits, one hit for each place.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            hamming: false,
            strand: Strand::Both,
            n_matches: false,
            all_ends: false,
            overhang: None,
            pam: None,
            pam_first: false,
            seed: None,
        }
    }

    /// Checks options that exclude each other.
    ///
    /// # Errors
    /// [`Error::Config`], naming the options.
    pub fn validate(&self) -> Result<(), Error> {
        let problem = match self {
            Config { overhang: Some(cost), .. } if !(0.0..=1.0).contains(cost) => {
                "`overhang` is out of range: 0 to 1"
            }
            Config { overhang: Some(_), .. } if self.hamming || self.is_anchored() => {
                "`overhang` cannot be used with `hamming`, `pam` or `seed`"
            }
            Config { pam: None, pam_first: true, .. } => "`pam_first` requires `pam`",
            Config { pam: Some(_), all_ends: true, .. } => {
                "`all_ends` and `pam`: a PAM already fixes the end of an alignment; use one of the two"
            }
            Config { pam: None, hamming: false, seed: Some(_), .. } => {
                "`seed` requires `pam` or `hamming`, which fix where a pattern ends"
            }
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }

    /// Whether patterns are scanned in the direction in which their anchor follows them, so in both directions of the
    /// text for both strands.
    pub(crate) fn is_anchored(&self) -> bool {
        self.pam.is_some() || self.seed.is_some()
    }
}
