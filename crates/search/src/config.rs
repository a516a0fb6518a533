//! Options of a search: plain data that is validated once.

use merganser_filter::Threshold;
use serde::Serialize;

merganser_run::named! {
    /// Strands of the text that are searched.
    #[derive(Default)]
    pub enum Strand {
        /// Both strands.
        #[default]
        Both = "both",
        /// Only the forward strand.
        Forward = "forward",
        /// Only the reverse complement.
        Reverse = "reverse",
    }
}

impl Strand {
    /// Whether a strand is searched.
    pub(crate) fn searches(self, reverse: bool) -> bool {
        self != if reverse { Strand::Forward } else { Strand::Reverse }
    }
}

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
}

impl Config {
    /// Returns the default options for a threshold: both strands, edits, one hit for each place.
    pub fn new(threshold: Threshold) -> Config {
        let (hamming, n_matches, all_ends) = (false, false, false);
        Config { threshold, hamming, strand: Strand::Both, n_matches, all_ends }
    }
}
