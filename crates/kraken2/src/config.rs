//! Options of classification by a Kraken 2 database, most of which databases of merganser share.

use merganser_io::{Phred, QualityOffset};
use merganser_run::ConfigError;
use merganser_taxreport::output::SEGMENT_BASES;
use serde::Serialize;

use crate::{Error, ReadShare};

/// The maximum quality of a base in FASTQ with Phred+33.
const MAX_QUAL: u8 = 93;
/// The minimum length of a segment in bases.
const MIN_SEGMENT: u32 = 100;

/// Options of classification by a Kraken 2 database; they mean the same as Kraken 2's options of these names.
///
/// ```
/// use merganser_kraken2::Kraken2Config;
///
/// let config = Kraken2Config { confidence: 0.1, mapped_only: true, ..Kraken2Config::default() };
/// assert!(config.validate().is_ok());
/// assert!(Kraken2Config { min_qual: 94, ..config }.validate().is_err());
/// ```
// The doc comments of options are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Kraken2Config {
    /// Minimum share of a read's k-mers in the clade of its taxon (with a database of merganser, about that of k-mers
    /// of 35 bases); the taxon is moved up until its clade has that share
    #[cfg_attr(feature = "cli", arg(long, value_name = "0..1", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub confidence: f64,
    /// Minimum number of hit groups of a classified read; a hit group is a run of k-mers with the same
    /// minimizer, which is in the database
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = HIT_GROUPS))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Kraken 2's databases"))]
    pub minimum_hit_groups: u64,
    /// Stop looking at a read when it has --minimum-hit-groups hit groups
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Kraken 2's databases"))]
    pub quick: bool,
    /// Treat bases of a lower quality as N
    #[cfg_attr(feature = "cli", arg(long, alias = "minimum-base-quality", value_name = "Q"))]
    #[cfg_attr(feature = "cli", arg(default_value_t, help_heading = "Reads"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_QUAL))))]
    pub min_qual: u8,
    /// Offset of the qualities in FASTQ: 33, or 64 for old Illumina (1.3 to 1.7); reads are written with
    /// Phred+33
    #[cfg_attr(feature = "cli", arg(long, value_name = "33|64", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true, help_heading = "Reads"))]
    pub quality_offset: QualityOffset,
    /// Write only the lines of reads that have a taxon
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub mapped_only: bool,
    /// In Kraken's format, write `NAME (taxid TAXID)` instead of the taxid
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub use_names: bool,
    /// Add two columns to --report, the features of the reads in each taxon and the distinct ones among
    /// them; pages then show the evidence that a taxon is present
    #[cfg_attr(feature = "cli", arg(long, requires = "counted", help_heading = "Reports"))]
    pub report_minimizer_data: bool,
    /// Length of the segments of --segments-out in bases [default: 1000]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BASES", requires = "segments_out"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(i64::from(MIN_SEGMENT)..)))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Output"))]
    pub segment_length: Option<u32>,

    /// Whether reads are counted by the databases that support their taxon, for
    /// [`Kraken2Counts::write_database_report`](crate::Kraken2Counts::write_database_report).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub database_report: bool,
    /// The maximum number of reads in a batch; both mates of a pair count. No result depends on it.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub batch_records: Option<usize>,
    /// Whether mates are paired by their position in the inputs, whatever their names. Otherwise the names
    /// must be [those of mates](merganser_io::are_mates).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub any_names: bool,
    /// The shard of the reads to classify; `None` for all reads. Lines before the first read belong to the
    /// first shard. If minimizers are estimated by a Kraken 2 database, shards must consist of
    /// [whole blocks](ReadShare::at_blocks) of reads.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub share: Option<ReadShare>,
}

/// The default of `minimum_hit_groups`, as in the program `kraken2`.
const HIT_GROUPS: u64 = 2;

impl Default for Kraken2Config {
    /// Returns the defaults of the program `kraken2`: lines of all reads, two hit groups, no minimizer data.
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
            database_report: false,
            segment_length: None,
            batch_records: None,
            any_names: false,
            share: None,
        }
    }
}

impl Kraken2Config {
    /// Returns how qualities are decoded and masked.
    pub fn phred(&self) -> Phred {
        let least = (self.min_qual > 0).then_some(self.min_qual);
        Phred { offset: self.quality_offset, least }
    }

    /// Returns the length of segments in bases.
    pub fn segment_bases(&self) -> usize {
        self.segment_length.unwrap_or(SEGMENT_BASES).max(1) as usize
    }

    /// Checks that all options are in range and consistent.
    ///
    /// # Errors
    /// [`Error::Config`] if they are not; it names the option.
    pub fn validate(&self) -> Result<(), Error> {
        let is_cut = |share: &ReadShare| !share.is_of_blocks();
        if self.report_minimizer_data && self.share.as_ref().is_some_and(is_cut) {
            return Err(Error::Config(ConfigError::new(
                "distinct minimizers are estimated from whole blocks: use a share of `ReadShare::at_blocks`",
            )));
        }
        self.check_ranges()?;
        Ok(())
    }

    /// Checks the ranges of `confidence` (0 to 1), `min_qual` (0 to 93) and `segment_length` (100 or more).
    ///
    /// # Errors
    /// If one is out of range; the error names it.
    pub fn check_ranges(&self) -> Result<(), ConfigError> {
        let Kraken2Config { confidence, min_qual, segment_length, .. } = self;
        let problem = match segment_length {
            _ if !(0.0..=1.0).contains(confidence) => {
                format!("`confidence` {confidence} is out of range: 0 to 1")
            }
            _ if *min_qual > MAX_QUAL => {
                format!("`min_qual` {min_qual} is out of range: 0 to {MAX_QUAL}")
            }
            Some(bases @ ..MIN_SEGMENT) => {
                format!("`segment_length` {bases} is out of range: {MIN_SEGMENT} bases or more")
            }
            _ => return Ok(()),
        };
        Err(ConfigError::new(problem))
    }
}
