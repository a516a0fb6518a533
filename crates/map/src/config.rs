//! What to report and how to find it: plain data, checked once.

use std::path::PathBuf;

use merganser_alignments::MOST_OPERATIONS;
use merganser_filter::{NMode, Threshold};
use merganser_io::ReadShare;
use merganser_run::ConfigError;

use crate::{Error, Format, ReadGroup};

/// What counts as an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Substitutions, insertions and deletions.
    #[default]
    Edit,
    /// Substitutions alone.
    Hamming,
}

/// Which strands of the reference are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strand {
    /// Both.
    #[default]
    Both,
    /// The reference as it is.
    Forward,
    /// Its reverse complement.
    Reverse,
}

/// What rejects candidates before they are verified. No choice loses a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefilter {
    /// The exact edit distance, in vector lanes.
    #[default]
    Exact,
    /// GateKeeper-GPU's rule, made safe.
    GateKeeper,
    /// SneakySnake's rule.
    Snake,
    /// Nothing: every candidate is verified.
    None,
}

/// Which hits of a read, or of a pair, are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// All.
    #[default]
    All,
    /// The first.
    Best,
    /// All with as few edits as the first.
    BestStrata,
}

/// What is found and how it is written; the output depends on this alone, on the reference and the
/// reads ([`Config::filter`] changes how fast it is, not what it finds).
///
/// ```
/// use merganser_filter::Threshold;
/// use merganser_map::{Config, Format, Select, Strand};
///
/// let config = Config::new(Threshold::Edits(3)).select(Select::BestStrata).crop(100);
/// let config = config.strand(Strand::Forward).format(Format::Bam(6));
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How many edits a hit may have.
    pub threshold: Threshold,
    /// What counts as an edit.
    pub metric: Metric,
    /// Which strands are searched.
    pub strand: Strand,
    /// What letters that are no bases are; not [`NMode::Pass`], which is for pairs alone.
    pub n_mode: NMode,
    /// What rejects candidates before they are verified.
    pub filter: Prefilter,
    /// Which hits are reported.
    pub select: Select,
    /// The most hits of a read, or combinations of a pair, that are reported; 0: no limit.
    pub max_hits: u32,
    /// With [`Select::Best`]: a primary record names the read's other hits with as few edits in the tag XA, if
    /// there are no more than so many; 0: no record has the tag.
    pub xa: u32,
    /// Least outer distance of the mates of a concordant pair, in bases.
    pub min_insert: u32,
    /// Largest outer distance of the mates of a concordant pair, in bases.
    pub max_insert: u32,
    /// Where a pair has no concordant combination, each mate is looked for with up to so many edits, but no fewer
    /// than `threshold` allows, beside the best hits of the other one; `None`: not.
    pub rescue: Option<Threshold>,
    /// Use only so many bases of each read, from its first on; `None`: all.
    pub crop: Option<u32>,
    /// How records are written.
    pub format: Format,
    /// Records are in the order of the reference; not of SAM.
    pub sort: bool,
    /// For CRAM: the reference as FASTA, of which the index lacks letters that are no bases.
    pub fasta: Option<PathBuf>,
    /// The read groups: none, that of all reads, or one for each input (file or pair of files).
    pub read_groups: Vec<ReadGroup>,
    /// CIGARs tell matches (=) and mismatches (X) apart.
    pub extended_cigars: bool,
    /// Ends of reads that cost more than leaving them out of the alignment are clipped: a base that is the same
    /// scores 1, one that differs -4, a gap of n bases -6 - n, a clipped end -5 (BWA-MEM's defaults). Which hits
    /// there are, and their order, is as without.
    pub clip: bool,
    /// Reads without a hit have records, too.
    pub keep_unmapped: bool,
    /// [`Outcome::placements`](crate::Outcome::placements) is made.
    pub placements: bool,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
    /// Map these of the reads alone ([`share`](crate::share())), into BAM that
    /// [`JoinedShards`](crate::JoinedShards) puts together with the others'.
    pub share: Option<ReadShare>,
}

/// The longest read, in bases.
pub const MOST_READ: usize = 1 << 14;

// An alignment has fewer edits than its read has bases, and each brings two operations at most.
const _: () = assert!(2 * MOST_READ < MOST_OPERATIONS);

impl Config {
    /// All hits within `threshold` edits on both strands; N matches nothing; mates 0 to 500 bases
    /// apart; SAM without a read group, with CIGARs of M, and records of reads without a hit.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            metric: Metric::default(),
            strand: Strand::default(),
            n_mode: NMode::default(),
            filter: Prefilter::default(),
            select: Select::default(),
            max_hits: 0,
            xa: 0,
            min_insert: 0,
            max_insert: 500,
            rescue: None,
            crop: None,
            format: Format::Sam,
            sort: false,
            fasta: None,
            read_groups: Vec::new(),
            extended_cigars: false,
            clip: false,
            keep_unmapped: true,
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

    /// Allows so many edits.
    #[must_use]
    pub fn threshold(self, threshold: Threshold) -> Config {
        Config { threshold, ..self }
    }

    /// Counts these as edits.
    #[must_use]
    pub fn metric(self, metric: Metric) -> Config {
        Config { metric, ..self }
    }

    /// Searches these strands.
    #[must_use]
    pub fn strand(self, strand: Strand) -> Config {
        Config { strand, ..self }
    }

    /// Takes letters that are no bases as this.
    #[must_use]
    pub fn n_mode(self, n_mode: NMode) -> Config {
        Config { n_mode, ..self }
    }

    /// Rejects candidates by this filter.
    #[must_use]
    pub fn filter(self, filter: Prefilter) -> Config {
        Config { filter, ..self }
    }

    /// Reports these hits.
    #[must_use]
    pub fn select(self, select: Select) -> Config {
        Config { select, ..self }
    }

    /// Reports at most so many hits of a read, or combinations of a pair; 0: no limit.
    #[must_use]
    pub fn max_hits(self, max_hits: u32) -> Config {
        Config { max_hits, ..self }
    }

    /// Wants at least so many bases from end to end of a concordant pair.
    #[must_use]
    pub fn min_insert(self, min_insert: u32) -> Config {
        Config { min_insert, ..self }
    }

    /// Wants at most so many bases from end to end of a concordant pair.
    #[must_use]
    pub fn max_insert(self, max_insert: u32) -> Config {
        Config { max_insert, ..self }
    }

    /// Looks for mates with up to so many edits beside the others, or not.
    #[must_use]
    pub fn rescue(self, rescue: impl Into<Option<Threshold>>) -> Config {
        Config { rescue: rescue.into(), ..self }
    }

    /// Uses only so many bases of each read, or all.
    #[must_use]
    pub fn crop(self, crop: impl Into<Option<u32>>) -> Config {
        Config { crop: crop.into(), ..self }
    }

    /// Writes records so.
    #[must_use]
    pub fn format(self, format: Format) -> Config {
        Config { format, ..self }
    }

    /// Writes records in the order of the reference, or of the reads.
    #[must_use]
    pub fn sort(self, sort: bool) -> Config {
        Config { sort, ..self }
    }

    /// Takes letters of the reference that are no bases from this file, for CRAM.
    #[must_use]
    pub fn fasta(self, fasta: impl Into<Option<PathBuf>>) -> Config {
        Config { fasta: fasta.into(), ..self }
    }

    /// Gives all reads this read group, or none.
    #[must_use]
    pub fn read_group(self, read_group: impl Into<Option<ReadGroup>>) -> Config {
        Config { read_groups: read_group.into().into_iter().collect(), ..self }
    }

    /// Gives the reads of each input (file or pair of files) a read group of its own.
    #[must_use]
    pub fn read_groups(self, read_groups: impl IntoIterator<Item = ReadGroup>) -> Config {
        Config { read_groups: read_groups.into_iter().collect(), ..self }
    }

    /// Tells matches and mismatches apart in CIGARs, or not.
    #[must_use]
    pub fn extended_cigars(self, extended_cigars: bool) -> Config {
        Config { extended_cigars, ..self }
    }

    /// Clips ends of reads that cost more than that, or not.
    #[must_use]
    pub fn clip(self, clip: bool) -> Config {
        Config { clip, ..self }
    }

    /// Names up to so many other best hits in XA.
    #[must_use]
    pub fn xa(self, xa: u32) -> Config {
        Config { xa, ..self }
    }

    /// Gives reads without a hit records, or not.
    #[must_use]
    pub fn keep_unmapped(self, keep_unmapped: bool) -> Config {
        Config { keep_unmapped, ..self }
    }

    /// Numbers reads by hits, edits and contigs, and pairs by insert size, for pictures of the run, or not.
    #[must_use]
    pub fn placements(self, placements: bool) -> Config {
        Config { placements, ..self }
    }

    /// Takes mates by their place, whatever their names, or compares these.
    #[must_use]
    pub fn any_names(self, any_names: bool) -> Config {
        Config { any_names, ..self }
    }

    /// Maps these of the reads alone, or all.
    #[must_use]
    pub fn share(self, share: impl Into<Option<ReadShare>>) -> Config {
        Config { share: share.into(), ..self }
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
            Config { threshold: Threshold::Edits(edits), .. } if *edits as usize >= MOST_READ => {
                format!("`threshold` is out of range: 0 to {}", MOST_READ - 1)
            }
            Config { rescue: Some(Threshold::Percent(100..)), .. } => {
                "`rescue` is out of range: 0% to 99%".into()
            }
            Config { rescue: Some(Threshold::Edits(edits)), .. }
                if *edits as usize >= MOST_READ =>
            {
                format!("`rescue` is out of range: 0 to {}", MOST_READ - 1)
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
