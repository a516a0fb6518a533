//! How reads are classified.

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
    /// What the line of a read looks like.
    #[derive(Default)]
    pub enum LineFormat {
        #[default]
        Kraken = "kraken" ("Kraken 2's five columns"),
        MetaCache = "metacache" ("MetaCache's table"),
    }
}

/// How to classify reads.
///
/// ```
/// use merganser_classify::VerdictConfig;
/// use merganser_classify::run::RunConfig;
///
/// let config = RunConfig {
///     verdict: VerdictConfig { hitmin: Some(8), ..VerdictConfig::default() },
///     min_read_len: Some(50),
///     ..RunConfig::default()
/// };
/// assert!(config.validate().is_ok());
/// ```
// These comments are the help of the command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct RunConfig {
    /// What a read's line looks like
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Output"))]
    pub format: LineFormat,
    /// The options that databases of Kraken 2 have as well; `minimum_hit_groups`, `quick` and
    /// `batch_records` are theirs alone. With `report_minimizer_data`, the database has to fit into memory as a
    /// whole.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub kraken2: Kraken2Config,
    /// The columns of MetaCache's table.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub columns: Columns,
    /// Mates of fewer bases take no part; reads of which none is left are unclassified
    #[cfg_attr(feature = "cli", arg(long, alias = "min-readlen", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reads"))]
    pub min_read_len: Option<usize>,
    /// Mates of more bases take no part
    #[cfg_attr(feature = "cli", arg(long, alias = "max-readlen", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reads"))]
    pub max_read_len: Option<usize>,
    /// How a taxon is chosen.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub verdict: VerdictConfig,
    /// Longest insert of a pair, in bases [default: the sum of the mates' lengths]
    #[cfg_attr(feature = "cli", arg(long, alias = "insertsize", value_name = "BASES"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub insert: Option<u32>,
    /// Candidates with fewer hits than the best by less than N are told apart by what all sequences
    /// of their taxa have together; 0: by their best sequences alone [default: the preset's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Decision"))]
    pub near: Option<u16>,
    /// Leave out the sequences with the lowest coverage, as long as all of these together have no
    /// more than so many per cent of the coverage of all; reads wait in temporary files
    // In per mille, 0 to 1,000: `ReferenceHits::above_percentile`.
    #[serde(serialize_with = "as_percent")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PERCENT", value_parser = per_mille))]
    #[cfg_attr(feature = "cli", arg(default_value = "0", hide_default_value = true))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub cov_percentile: u32,
    /// Count hits by reference sequence.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub references: bool,
}

impl RunConfig {
    /// Returns the thresholds by which a database with these parameters is asked.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn thresholds(&self, params: &Params) -> Result<Thresholds, Error> {
        let of = self.verdict.thresholds(params)?;
        Ok(Thresholds {
            insert: self.insert.map_or(of.insert, u64::from),
            near: self.near.map_or(of.near, u32::from),
            confidence: self.kraken2.confidence,
            ..of
        })
    }

    /// Checks the ranges of all but the thresholds.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        self.kraken2.check_confidence()?;
        if self.cov_percentile > 0 && self.kraken2.share.is_some() {
            return Err(refused(
                "`cov_percentile` leaves out sequences by what all reads hit, and a `shard` has \
                 some of them",
            ));
        }
        match self.cov_percentile {
            0..=1000 => Ok(()),
            most => Err(refused(format!("`cov_percentile` {most} is out of range: 0 to 1000"))),
        }
    }

    /// Returns which reads and bases take part.
    pub(crate) fn filter(&self) -> ReadFilter {
        ReadFilter {
            min_bases: self.min_read_len.unwrap_or(0),
            max_bases: self.max_read_len.unwrap_or(usize::MAX),
            min_quality: self.kraken2.min_qual,
        }
    }

    /// Whether lines have all hits of their reads.
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
