//! The description of a calculation.

use std::path::PathBuf;

use merganser_io::OutputFormat;
use serde::Serialize;

use super::expression::{Cut, Expression};
use crate::formats::TableFormat;

/// The limits of the counts in a result.
///
/// ```
/// use merganser_kmers::algebra::{CountLimits, Cut};
///
/// let limits = CountLimits { min_count: 2, ..CountLimits::default() };
/// assert_eq!(limits.cut(), Cut { least: 2, most: u32::MAX });
/// ```
// The doc comments of the fields are the help texts of the command line.
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
    /// Returns limits that keep all k-mers with their counts.
    fn default() -> CountLimits {
        CountLimits { min_count: 1, max_count: None, counter_max: None }
    }
}

impl CountLimits {
    /// Returns the bounds of counts; they apply before counts are lowered.
    pub fn cut(&self) -> Cut {
        Cut { least: self.min_count, most: self.max_count.unwrap_or(u32::MAX) }
    }

    /// Returns the value to which larger counts are lowered.
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

/// A calculation with tables, and the output of its result.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// The expression to compute from the tables.
    pub expression: Expression,
    /// The limits of the counts in the result.
    pub limits: CountLimits,
    /// The output file; for [`TableFormat::Kmc`] the name without suffix.
    pub output: Option<PathBuf>,
    /// The format of the output.
    pub format: TableFormat,
}

impl Calculation {
    /// Computes an expression with all counts, as an `.mgk` table without an output.
    pub fn new(expression: Expression) -> Calculation {
        Calculation {
            expression,
            limits: CountLimits::default(),
            output: None,
            format: TableFormat::Mgk,
        }
    }

    /// Sets the output file. Its suffix selects the format: `.mgk`, `.tsv`, `.fa`, `.kff`, `.jf`, `.parquet`; `.mgk` for
    /// others.
    #[must_use]
    pub fn output(self, path: impl Into<PathBuf>) -> Calculation {
        let path = path.into();
        let suffix = OutputFormat::of_name(&path).map(OutputFormat::suffix);
        let format = match suffix.unwrap_or_default() {
            "fa" => TableFormat::Fasta,
            suffix => suffix.parse().unwrap_or_default(),
        };
        Calculation { output: Some(path), format, ..self }
    }

    /// Sets the format of the output; for [`TableFormat::Kmc`] the name of the file is without suffix.
    #[must_use]
    pub fn format(self, format: TableFormat) -> Calculation {
        Calculation { format, ..self }
    }

    /// Sets the limits of the counts in the result.
    #[must_use]
    pub fn limits(self, limits: CountLimits) -> Calculation {
        Calculation { limits, ..self }
    }
}
