//! Options for classifying reads.

use merganser_kraken2::Kraken2Config;
use serde::Serialize;

#[cfg(feature = "cli")]
use super::per_mille::per_mille;
use super::{Columns, VerdictConfig, as_percent, refused};
use crate::Error;
use crate::decide::Thresholds;
use crate::params::Params;
use crate::read_filter::ReadFilter;

merganser_run::named! {
    /// The format of a read's line.
    #[derive(Default)]
    pub enum LineFormat {
        #[default]
        Kraken = "kraken" ("Kraken 2's five columns"),
        MetaCache = "metacache" ("MetaCache's table"),
    }
}

/// Options for classifying reads.
///
/// ```
/// use merganser_classify::VerdictConfig;
/// use merganser_classify::RunConfig;
///
/// let config = RunConfig {
///     verdict: VerdictConfig { hitmin: Some(8), ..VerdictConfig::default() },
///     min_read_len: Some(50),
///     ..RunConfig::default()
/// };
/// assert!(config.validate().is_ok());
/// ```
// These comments are the command-line help.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct RunConfig {
    /// Format of a read's line
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Output"))]
    pub format: LineFormat,
    /// Options shared with Kraken 2 databases; `minimum_hit_groups`, `quick` and `batch_records` apply only to those.
    /// With `report_minimizer_data`, the whole database must fit into memory.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub kraken2: Kraken2Config,
    /// The columns of MetaCache's table.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub columns: Columns,
    /// Ignore mates with fewer bases; a read without a remaining mate is unclassified
    #[cfg_attr(feature = "cli", arg(long, alias = "min-readlen", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reads"))]
    pub min_read_len: Option<usize>,
    /// Ignore mates with more bases
    #[cfg_attr(feature = "cli", arg(long, alias = "max-readlen", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reads"))]
    pub max_read_len: Option<usize>,
    /// Options for choosing a taxon.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub verdict: VerdictConfig,
    /// Longest insert of a pair in bases [default: the sum of the mates' lengths]
    #[cfg_attr(feature = "cli", arg(long, alias = "insertsize", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub insert: Option<u32>,
    /// Compare candidates that are fewer than N hits behind the best one by the features of all
    /// sequences of their taxa; 0: by their best sequences alone [default: the preset's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Decision"))]
    pub near: Option<u16>,
    /// Minimum fraction of a read's windows that hit the clade of its taxon; other reads are unclassified [default: 0]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "0..1", help_heading = "Decision"))]
    pub min_fraction: Option<f64>,
    /// Ignore the sequences with the lowest coverage that together have at most this percentage of the
    /// total coverage; reads wait in temporary files
    // In per mille, 0 to 1,000: `ReferenceHits::above_percentile`.
    #[serde(serialize_with = "as_percent")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PERCENT", value_parser = per_mille))]
    #[cfg_attr(feature = "cli", arg(default_value = "0", hide_default_value = true))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub cov_percentile: u32,
    /// Whether hits are counted by reference sequence.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub references: bool,
}

impl RunConfig {
    /// Returns the thresholds for querying a database with these parameters.
    ///
    /// # Errors
    /// [`Error::Config`] names the value that is out of range.
    pub fn thresholds(&self, params: &Params) -> Result<Thresholds, Error> {
        let of = self.verdict.thresholds(params)?;
        Ok(Thresholds {
            insert: self.insert.map_or(of.insert, u64::from),
            near: self.near.map_or(of.near, u32::from),
            confidence: self.kraken2.confidence,
            ..of
        })
    }

    /// Checks the ranges of all options except the thresholds.
    ///
    /// # Errors
    /// [`Error::Config`] names the value that is out of range.
    pub fn validate(&self) -> Result<(), Error> {
        self.kraken2.check_ranges()?;
        if let Some(fraction) = self.min_fraction.filter(|one| !(0.0..=1.0).contains(one)) {
            return Err(refused(format!("`min_fraction` {fraction} is out of range: 0 to 1")));
        }
        if self.cov_percentile > 0 && self.kraken2.share.is_some() {
            return Err(refused(
                "`cov_percentile` needs the hits of all reads, but a `shard` has only some of them",
            ));
        }
        match self.cov_percentile {
            0..=1000 => Ok(()),
            most => Err(refused(format!("`cov_percentile` {most} is out of range: 0 to 1000"))),
        }
    }

    /// Returns the minimum fraction of windows that hit the clade of a taxon, if it decides on reads.
    pub(crate) fn least_fraction(&self) -> Option<f64> {
        self.min_fraction.filter(|&fraction| fraction > 0.0)
    }

    /// Returns the filter of reads and bases.
    pub(crate) fn filter(&self) -> ReadFilter {
        ReadFilter {
            min_bases: self.min_read_len.unwrap_or(0),
            max_bases: self.max_read_len.unwrap_or(usize::MAX),
            min_quality: self.kraken2.min_qual,
        }
    }

    /// Whether lines show all hits of their reads.
    pub(crate) fn shows_all_hits(&self) -> bool {
        self.format == LineFormat::MetaCache && self.columns.allhits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named() {
        assert!(RunConfig::default().validate().is_ok());
        let config = RunConfig { cov_percentile: 1001, ..RunConfig::default() };
        let message = "`cov_percentile` 1001 is out of range: 0 to 1000";
        assert_eq!(config.validate().unwrap_err().to_string(), message);
    }
}
