//! What is to be computed, as data.

use std::path::PathBuf;

use serde::Serialize;

use super::expression::{Cut, Expression};
use crate::formats::TableFormat;

/// Which counts of a result are kept, and how.
///
/// ```
/// use merganser_kmers::algebra::{CountLimits, Cut};
///
/// let limits = CountLimits { min_count: 2, ..CountLimits::default() };
/// assert_eq!(limits.cut(), Cut { least: 2, most: u32::MAX });
/// ```
// These comments are the help of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct CountLimits {
    /// Only k-mers of the result that have a count of N or more
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Output"))]
    pub min_count: u32,
    /// Only k-mers of the result that have a count of N or less [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Output"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub max_count: Option<u32>,
    /// Lower counts above N to N [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Output"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub counter_max: Option<u32>,
}

impl Default for CountLimits {
    /// All k-mers are kept with their counts.
    fn default() -> CountLimits {
        CountLimits { min_count: 1, max_count: None, counter_max: None }
    }
}

impl CountLimits {
    /// The bounds of counts, before they are lowered.
    pub fn cut(&self) -> Cut {
        Cut { least: self.min_count, most: self.max_count.unwrap_or(u32::MAX) }
    }

    /// Larger counts are lowered to this.
    pub(super) fn ceiling(&self) -> u32 {
        self.counter_max.unwrap_or(u32::MAX)
    }
}

impl From<Cut> for CountLimits {
    fn from(Cut { least, most }: Cut) -> CountLimits {
        let max_count = Some(most).filter(|&most| most < u32::MAX);
        CountLimits { min_count: least, max_count, counter_max: None }
    }
}

/// What to compute, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// What to compute of the tables.
    pub expression: Expression,
    /// Which counts of it are kept.
    pub limits: CountLimits,
    /// Where the result goes; for [`TableFormat::Kmc`] the name without suffix.
    pub output: Option<PathBuf>,
    /// How it is written.
    pub format: TableFormat,
}
