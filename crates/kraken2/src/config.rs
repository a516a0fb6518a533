//! The options of classification by a Kraken 2 database, most of which other databases have as well.

use merganser_io::{Phred, QualityOffset};
use merganser_run::ConfigError;
use serde::Serialize;

use crate::{Error, ReadShare};

/// How reads are classified by a database of Kraken 2, as its options of these names say.
///
/// ```
/// use merganser_kraken2::Kraken2Config;
///
/// let config = Kraken2Config { confidence: 0.1, mapped_only: true, ..Kraken2Config::default() };
/// assert!(config.validate().is_ok());
/// ```
// These comments are the help of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Kraken2Config {
    /// Share of a read's k-mers (of its features, by databases of merganser) that must be in the clade
    /// of its taxon: the taxon is moved up until they are
    #[cfg_attr(feature = "cli", arg(long, value_name = "0..1", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub confidence: f64,
    /// Hit groups (runs of k-mers of one minimizer that is in the database) without which a read is
    /// unclassified
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = HIT_GROUPS))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Kraken 2's databases"))]
    pub minimum_hit_groups: u64,
    /// Look at reads until they have so many hit groups
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Kraken 2's databases"))]
    pub quick: bool,
    /// Bases of a lower quality count as N
    #[cfg_attr(feature = "cli", arg(long, alias = "minimum-base-quality", value_name = "Q"))]
    #[cfg_attr(feature = "cli", arg(default_value_t, help_heading = "Reads"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u8).range(0..=93)))]
    pub min_qual: u8,
    /// Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7), which are written
    /// back as Phred+33
    #[cfg_attr(feature = "cli", arg(long, value_name = "33|64", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true, help_heading = "Reads"))]
    pub quality_offset: QualityOffset,
    /// Only lines of reads that have a taxon
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub mapped_only: bool,
    /// Kraken's format: `NAME (taxid TAXID)` instead of the taxid
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub use_names: bool,
    /// Two more columns in --report: features of the reads, and distinct ones, in each taxon; for pages,
    /// the evidence that a taxon is there
    #[cfg_attr(feature = "cli", arg(long, requires = "counted", help_heading = "Reports"))]
    pub report_minimizer_data: bool,

    /// The most reads that a worker takes at a time; both mates of a pair count. No result depends on it.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub batch_records: Option<usize>,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub any_names: bool,
    /// Classify these of the reads alone, for others to do the rest: lines before the first read are the
    /// first shard's. Where minimizers are estimated by a database of Kraken 2,
    /// [whole blocks](ReadShare::at_blocks) of reads.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub share: Option<ReadShare>,
}

/// The default of `minimum_hit_groups`, that of the program `kraken2`.
const HIT_GROUPS: u64 = 2;

impl Default for Kraken2Config {
    /// The defaults of the program `kraken2`: lines of all reads, two hit groups, no minimizers.
    fn default() -> Kraken2Config {
        Kraken2Config {
            confidence: 0.0,
            minimum_hit_groups: HIT_GROUPS,
            quick: false,
            min_qual: 0,
            quality_offset: QualityOffset::default(),
            mapped_only: false,
            use_names: false,
            report_minimizer_data: false,
            batch_records: None,
            any_names: false,
            share: None,
        }
    }
}

impl Kraken2Config {
    /// Returns how qualities are read.
    pub fn phred(&self) -> Phred {
        let least = (self.min_qual > 0).then_some(self.min_qual);
        Phred { offset: self.quality_offset, least }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        let is_cut = |share: &ReadShare| !share.is_of_blocks();
        if self.report_minimizer_data && self.share.as_ref().is_some_and(is_cut) {
            return Err(Error::Config(ConfigError::new(
                "distinct minimizers are estimated of whole blocks: a share of `ReadShare::at_blocks`",
            )));
        }
        self.check_confidence()?;
        Ok(())
    }

    /// Checks the range of `confidence`.
    ///
    /// # Errors
    /// The range, if it is another.
    pub fn check_confidence(&self) -> Result<(), ConfigError> {
        if (0.0..=1.0).contains(&self.confidence) {
            return Ok(());
        }
        let problem = format!("`confidence` {} is out of range: 0 to 1", self.confidence);
        Err(ConfigError::new(problem))
    }
}
