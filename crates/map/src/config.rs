//! What to report and how to find it: plain data, checked once.

#[cfg(feature = "cli")]
mod cli;

use std::path::PathBuf;

use merganser_alignments::MAX_OPERATIONS;
use merganser_filter::{NMode, Threshold};
use merganser_io::{QualityOffset, ReadShare};
use merganser_run::ConfigError;
#[cfg(feature = "cli")]
use merganser_run::options::cli::one_of;
use serde::Serialize;

use crate::{Error, Format, ReadGroup};

merganser_run::named! {
    /// Which strands of the reference are searched.
    #[derive(Default)]
    pub enum Strand {
        /// Both.
        #[default]
        Both = "both",
        /// The reference as it is.
        Forward = "forward",
        /// Its reverse complement.
        Reverse = "reverse",
    }
}

merganser_run::named! {
    /// What rejects candidates before they are verified. No choice loses a hit.
    #[derive(Default)]
    pub enum Prefilter {
        /// The exact edit distance, in vector lanes.
        #[default]
        Exact = "exact",
        /// GateKeeper-GPU's rule, made safe.
        GateKeeper = "gatekeeper",
        /// SneakySnake's rule.
        Snake = "snake",
        /// Nothing: every candidate is verified.
        None = "none",
    }
}

merganser_run::named! {
    /// Which hits of a read, or of a pair, are reported.
    #[derive(Default)]
    pub enum Select {
        /// All.
        #[default]
        All = "all",
        /// The first.
        Best = "best",
        /// All with as few edits as the first.
        BestStrata = "best-strata",
    }
}

/// What is found and how it is written; the output depends on this alone, on the reference and the
/// reads ([`Config::filter`] changes how fast it is, not what it finds).
///
/// ```
/// use merganser_filter::Threshold;
/// use merganser_map::{Config, Format, Select, Strand};
///
/// let config = Config {
///     select: Select::BestStrata,
///     crop: Some(100),
///     strand: Strand::Forward,
///     format: Format::Bam(6),
///     ..Config::new(Threshold::Edits(3))
/// };
/// assert!(config.validate().is_ok());
/// ```
// These comments are the help of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Edits that a hit may have: a number, or N% of the read's length, rounded down
    #[cfg_attr(feature = "cli", arg(short = 'e', long, value_name = "N|N%"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub threshold: Threshold,
    /// Allow substitutions only, no insertions and deletions
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Hits"))]
    pub hamming: bool,
    /// Which strands of the reference are searched
    #[cfg_attr(feature = "cli", arg(long, value_name = "STRAND", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub strand: Strand,
    /// Letters that are no bases match nothing (not even themselves), or everything
    // Not `pass`, which is for pairs of a read and a segment.
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODE", default_value_t))]
    #[cfg_attr(feature = "cli", arg(value_parser = one_of(&MATCHING), help_heading = "Hits"))]
    pub n_mode: NMode,
    /// Map only the first N bases of each read
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Hits"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub crop: Option<u32>,
    /// Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7); records have Phred+33
    #[cfg_attr(feature = "cli", arg(long, value_name = "33|64", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true))]
    pub quality_offset: QualityOffset,

    /// Which hits of a read, or of a pair, are reported
    #[cfg_attr(feature = "cli", command(flatten))]
    pub select: Select,
    /// Report at most so many hits of a read, or combinations of a pair; 0: no limit
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub max_hits: u32,
    /// With --best: name other hits with as few edits in the tag XA, if there are no
    /// more than N; 0: no tag
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t, requires = "best"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub xa: u32,
    /// Least distance of the mates of a pair, from end to end
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t, requires = "pairs"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub min_insert: u32,
    /// Largest distance of the mates of a pair, from end to end
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = MAX_INSERT))]
    #[cfg_attr(feature = "cli", arg(requires = "pairs", help_heading = "Reports"))]
    pub max_insert: u32,
    /// Where a pair has no concordant combination: look for each mate with up to so many edits beside the
    /// best hits of the other one
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|N%", requires = "pairs"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub rescue: Option<Threshold>,

    /// Sort records by contig and place, and write an index beside -o
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub sort: bool,
    /// Tell matches (=) and mismatches (X) apart in CIGARs
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub eqx: bool,
    /// Clip ends of reads that cost more than that, as a local aligner does; hits are the same
    // A base that is the same scores 1, one that differs -4, a gap of n bases -6 - n, a clipped end -5 (BWA-MEM's defaults).
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub clip: bool,
    /// Leave reads without a hit out of -o
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub no_unmapped: bool,
    /// What rejects candidates before they are verified; changes the time alone
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILTER", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Resources"))]
    pub filter: Prefilter,

    /// How records are written.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub format: Format,
    /// For CRAM: the reference as FASTA, of which the index lacks letters that are no bases.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub fasta: Option<PathBuf>,
    /// The read groups: none, that of all reads, or one for each input (file or pair of files).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub read_groups: Vec<ReadGroup>,
    /// [`Outcome::placements`](crate::Outcome::placements) is made.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub placements: bool,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub any_names: bool,
    /// Map these of the reads alone ([`share`](crate::share())), into BAM that
    /// [`JoinedShards`](crate::JoinedShards) puts together with the others'.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub share: Option<ReadShare>,
}

/// What letters that are no bases can be.
#[cfg(feature = "cli")]
const MATCHING: [NMode; 2] = [NMode::Mismatch, NMode::Match];

/// The largest outer distance of the mates of a concordant pair, if none is given, in bases.
const MAX_INSERT: u32 = 500;

/// The longest read, in bases.
pub const MAX_READ: usize = 1 << 14;

// An alignment has fewer edits than its read has bases, and each brings two operations at most.
const _: () = assert!(2 * MAX_READ < MAX_OPERATIONS);

impl Config {
    /// All hits within `threshold` edits on both strands; N matches nothing; mates 0 to 500 bases
    /// apart; SAM without a read group, with CIGARs of M, and records of reads without a hit.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            hamming: false,
            strand: Strand::default(),
            n_mode: NMode::default(),
            filter: Prefilter::default(),
            select: Select::default(),
            max_hits: 0,
            xa: 0,
            min_insert: 0,
            max_insert: MAX_INSERT,
            rescue: None,
            crop: None,
            quality_offset: QualityOffset::default(),
            format: Format::Sam,
            sort: false,
            fasta: None,
            read_groups: Vec::new(),
            eqx: false,
            clip: false,
            no_unmapped: false,
            placements: false,
            any_names: false,
            share: None,
        }
    }

    /// The most hits of a read, or combinations of a pair, that have records; `None` without a limit.
    pub(crate) fn max_reported(&self) -> Option<u32> {
        match self.select {
            Select::Best => Some(1),
            Select::All | Select::BestStrata => Some(self.max_hits).filter(|&most| most > 0),
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        let groups = &self.read_groups;
        let is_known = |at: &usize| groups[..*at].iter().any(|one| one.id() == groups[*at].id());
        if let Some(twice) = (1..groups.len()).find(is_known) {
            let problem = format!("`read_group`: two have the ID {}", groups[twice].id());
            return Err(Error::Config(ConfigError::new(problem)));
        }
        let problem = match self {
            Config { threshold: Threshold::Percent(100..), .. } => {
                "`threshold` is out of range: 0% to 99%".into()
            }
            Config { threshold: Threshold::Edits(edits), .. } if *edits as usize >= MAX_READ => {
                format!("`threshold` is out of range: 0 to {}", MAX_READ - 1)
            }
            Config { rescue: Some(Threshold::Percent(100..)), .. } => {
                "`rescue` is out of range: 0% to 99%".into()
            }
            Config { rescue: Some(Threshold::Edits(edits)), .. } if *edits as usize >= MAX_READ => {
                format!("`rescue` is out of range: 0 to {}", MAX_READ - 1)
            }
            Config { min_insert, max_insert, .. } if min_insert > max_insert => {
                format!("`min_insert` {min_insert} is above `max_insert` {max_insert}")
            }
            Config { xa: 1.., select: Select::All | Select::BestStrata, .. } => {
                "`xa` goes with `select` best: others report such hits in records of their own"
                    .into()
            }
            Config { n_mode: NMode::Pass, .. } => "`n_mode` is out of range: not pass".into(),
            Config { crop: Some(0), .. } => "`crop` is out of range: 1 or more".into(),
            Config { format: Format::Bam(level @ 13..), .. } => {
                format!("`format`: level {level} of BAM is out of range: 0 to 12")
            }
            Config { share: Some(_), format: Format::Sam | Format::Cram, .. } => {
                "a `shard` is BAM, in which a part that is missing shows: name the output .bam"
                    .into()
            }
            Config { sort: true, format: Format::Sam, .. } => {
                "`sort` goes with BAM and CRAM, not with SAM: name the output .bam or .cram".into()
            }
            Config { sort: false, format: Format::Cram, .. } => {
                "CRAM is written in the order of the reference: add `sort`, or name the output .bam"
                    .into()
            }
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }
}
