//! Options of a mapping run: plain data that is validated once.

#[cfg(feature = "cli")]
mod cli;

use std::path::PathBuf;

use merganser_alignments::{MAX_OPERATIONS, TagRule};
use merganser_filter::{NMode, Strand, Threshold};
use merganser_io::{CommentTags, QualityOffset, ReadInput, ReadShare};
use merganser_run::ConfigError;
#[cfg(feature = "cli")]
use merganser_run::options::cli::one_of;
use serde::Serialize;

use crate::{Error, Format, Orientation, ReadGroup};

merganser_run::named! {
    /// The rule that rejects candidates before they are verified. No rule loses a hit.
    #[derive(Default)]
    pub enum Prefilter {
        /// The exact edit distance, computed in vector lanes.
        #[default]
        Exact = "exact",
        /// GateKeeper-GPU's rule, corrected so that it never rejects a hit.
        GateKeeper = "gatekeeper",
        /// SneakySnake's rule.
        Snake = "snake",
        /// No rule: every candidate is verified.
        None = "none",
    }
}

merganser_run::named! {
    /// Hits of a read, or combinations of a pair, that are reported.
    #[derive(Default)]
    pub enum Select {
        /// All hits or combinations.
        #[default]
        All = "all",
        /// Only the first hit or combination.
        Best = "best",
        /// All hits with the same number of edits as the first one.
        BestStrata = "best-strata",
    }
}

/// Options of a mapping run.
///
/// The output depends only on these options, the reference and the reads. [`Config::filter`] changes the speed,
/// not the hits.
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
// The comments of fields with an `arg` attribute are the help texts of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Maximum edits of a hit: a number, or N% of the read's length, rounded down
    #[cfg_attr(feature = "cli", arg(short = 'e', long, value_name = "N|N%"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub threshold: Threshold,
    /// Allow only substitutions, no insertions or deletions
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Hits"))]
    pub hamming: bool,
    /// Also report hits that begin within -e bases of the first base of a better hit on the same strand
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Hits"))]
    pub echoes: bool,
    /// Strands of the reference to search
    #[cfg_attr(feature = "cli", arg(long, value_name = "STRAND", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Hits"))]
    pub strand: Strand,
    /// Whether N and other ambiguous letters match nothing (not even themselves) or everything
    // `pass` is only for pairs of a read and a segment (`merganser filter`).
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODE", default_value_t))]
    #[cfg_attr(feature = "cli", arg(value_parser = one_of(&MATCHING), help_heading = "Hits"))]
    pub n_mode: NMode,
    /// Map only the first N bases of each read
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Hits"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub crop: Option<u32>,
    /// Encoding of FASTQ qualities: Phred+33, or Phred+64 (Illumina 1.3 to 1.7); output is always Phred+33
    #[cfg_attr(feature = "cli", arg(long, value_name = "33|64", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true))]
    pub quality_offset: QualityOffset,

    /// Hits of a read, or combinations of a pair, that are reported
    #[cfg_attr(feature = "cli", command(flatten))]
    pub select: Select,
    /// With --all or --best-strata: report at most N hits of a read, or N combinations of a pair; 0: no limit
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub max_hits: u32,
    /// With --best: list in the tag XA the other hits with the same number of edits, if there are at most N; 0:
    /// no tag
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub xa: u32,
    /// Strands and order of a pair's mates: facing each other (fr), facing away from each other (rf), or on the
    /// same strand (ff)
    #[cfg_attr(feature = "cli", arg(long, value_name = "fr|rf|ff", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub orientation: Orientation,
    /// Minimum distance between the outer ends of a pair's mates, in bases [default: 0, or learned]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Reports"))]
    pub min_insert: Option<u32>,
    /// Maximum distance between the outer ends of a pair's mates, in bases [default: 500, or learned]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Reports"))]
    pub max_insert: Option<u32>,
    /// Learn --min-insert and --max-insert from the first 100,000 pairs whose mates both have one best hit
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Reports"))]
    pub learn_insert: bool,
    /// For pairs without a concordant combination: search for each mate, with up to this many edits, near the
    /// best hits of the other one
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|N%"))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Reports"))]
    pub rescue: Option<Threshold>,

    /// Sort records by contig and position, and write an index next to -o
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub sort: bool,
    /// Write matches (=) and mismatches (X) in CIGARs instead of M
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub eqx: bool,
    /// Soft-clip ends of reads whose edits cost more than clipping, as local aligners do, and map reads without a
    /// hit by a part of at least half of their bases
    // The scores are BWA-MEM's defaults: match 1, mismatch -4, gap of n bases -6 - n, clipped end -5.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub clip: bool,
    /// Write the bases and qualities of a read in the records of all of its hits, not only in the first one
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub secondary_seq: bool,
    /// Keep these tags of reads in all their records, as bwa mem -C does: BC,RX or * for all
    ///
    /// Tags of SAM, BAM and CRAM, or in the headers of FASTQ, where they follow the name after a blank or a tab, with
    /// tabs between them: BC:Z:ACGT. Tags that describe an alignment (NM, MD, SA, ...) are always those of the new one,
    /// and * also leaves out other ones of an earlier alignment, such as AS. Read groups of SAM, BAM and CRAM are kept,
    /// too, unless -R is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TAGS", help_heading = "Output"))]
    pub tags: Option<CommentTags>,
    /// Do not write reads without a hit to -o, except mates of reads with a hit
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Output"))]
    pub no_unmapped: bool,
    /// Rule that rejects candidates before they are verified; changes only the speed
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILTER", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Resources"))]
    pub filter: Prefilter,

    /// The format of the records.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub format: Format,
    /// The reference as FASTA. CRAM needs it if the reference has ambiguous letters, which the index does not
    /// store.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub fasta: Option<PathBuf>,
    /// The URI of the reference, which the header of CRAM names (UR), so that readers find it.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub cram_uri: Option<String>,
    /// The read groups: empty, one for all reads, or one for each input (file or pair of files).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub read_groups: Vec<ReadGroup>,
    /// Whether to fill in [`Outcome::placements`](crate::Outcome::placements).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub placements: bool,
    /// Whether to pair mates by their order in the inputs, whatever their names. Otherwise, their names must be
    /// [those of mates](merganser_io::are_mates).
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub any_names: bool,
    /// Whether mates in alignments are single reads, too, although their flags say otherwise.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub single: bool,
    /// The share of the reads to map ([`share`](crate::share())), written as BAM that
    /// [`JoinedShards`](crate::JoinedShards) joins with the other shards' files.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub share: Option<ReadShare>,
}

/// Values of `n_mode` that mapping accepts.
#[cfg(feature = "cli")]
const MATCHING: [NMode; 2] = [NMode::Mismatch, NMode::Match];

/// The insert sizes of concordant pairs, in bases, where they are neither given nor learned.
const INSERTS: [u32; 2] = [0, 500];

/// The maximum length of a read, in bases.
pub const MAX_READ: usize = 1 << 14;

// An alignment has fewer edits than its read has bases, and each edit adds at most two operations.
const _: () = assert!(2 * MAX_READ < MAX_OPERATIONS);

impl Config {
    /// Whether reads of `inputs` may be mapped as pairs; looks at the content of files.
    pub fn may_have_pairs(&self, inputs: &[ReadInput]) -> bool {
        !self.single && inputs.iter().any(ReadInput::may_have_pairs)
    }

    /// Returns the default options with this threshold.
    ///
    /// They report all hits on both strands, N matches nothing, the mates of concordant pairs span 0 to 500
    /// bases, and the format is SAM without a read group, with M in CIGARs and with records of unmapped reads.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            hamming: false,
            echoes: false,
            strand: Strand::default(),
            n_mode: NMode::default(),
            filter: Prefilter::default(),
            select: Select::default(),
            max_hits: 0,
            xa: 0,
            orientation: Orientation::default(),
            min_insert: None,
            max_insert: None,
            learn_insert: false,
            rescue: None,
            crop: None,
            quality_offset: QualityOffset::default(),
            format: Format::Sam,
            sort: false,
            fasta: None,
            cram_uri: None,
            read_groups: Vec::new(),
            eqx: false,
            clip: false,
            secondary_seq: false,
            tags: None,
            no_unmapped: false,
            placements: false,
            any_names: false,
            single: false,
            share: None,
        }
    }

    /// Returns the part of a read's letters or qualities that is mapped.
    pub(crate) fn cropped<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let most = self.crop.map_or(usize::MAX, |crop| crop as usize);
        &text[..text.len().min(most)]
    }

    /// Returns the minimum and the maximum insert size of concordant pairs, in bases.
    pub fn inserts(&self) -> [u32; 2] {
        let [least, most] = INSERTS;
        [self.min_insert.unwrap_or(least), self.max_insert.unwrap_or(most)]
    }

    /// Returns the maximum number of hits of a read, or combinations of a pair, with records; `None` without a
    /// limit.
    pub(crate) fn max_reported(&self) -> Option<u32> {
        match self.select {
            Select::Best => Some(1),
            Select::All | Select::BestStrata => Some(self.max_hits).filter(|&most| most > 0),
        }
    }

    /// Checks that each value is in range and that the values can be combined.
    ///
    /// # Errors
    /// [`Error::Config`], which names the field.
    pub fn validate(&self) -> Result<(), Error> {
        let groups = &self.read_groups;
        let is_known = |at: &usize| groups[..*at].iter().any(|one| one.id() == groups[*at].id());
        if let Some(twice) = (1..groups.len()).find(is_known) {
            let problem = format!("`read_group`: the ID {} is given twice", groups[twice].id());
            return Err(Error::Config(ConfigError::new(problem)));
        }
        self.tags.as_ref().map_or(Ok(()), TagRule::check)?;
        let [least, most] = self.inserts();
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
            // If only the minimum is given, the maximum may be learned.
            Config { max_insert, learn_insert, .. }
                if least > most && (max_insert.is_some() || !learn_insert) =>
            {
                match max_insert {
                    Some(_) => format!("`min_insert` {least} is above `max_insert` {most}"),
                    None => format!(
                        "`min_insert` {least} is above the default of `max_insert`, {most}: give `max_insert`"
                    ),
                }
            }
            Config { xa: 1.., select: Select::All | Select::BestStrata, .. } => {
                "`xa` requires `best`: the others report such hits in records of their own"
                    .into()
            }
            Config { max_hits: 1.., select: Select::Best, .. } => {
                "`max_hits` requires `all` or `best_strata`: `best` reports one hit"
                    .into()
            }
            Config { n_mode: NMode::Pass, .. } => "`n_mode` pass is not supported".into(),
            Config { crop: Some(0), .. } => "`crop` is out of range: 1 or more".into(),
            Config { format: Format::Bam(level @ 13..), .. } => {
                format!("`format`: level {level} of BAM is out of range: 0 to 12")
            }
            Config { share: Some(_), format: Format::Sam | Format::Cram, .. } => {
                "`shard` requires BAM, because truncated BAM files are detected: name the output .bam"
                    .into()
            }
            Config { cram_uri: Some(uri), format, .. }
                if *format != Format::Cram || uri.is_empty() || uri.contains(char::is_control) =>
            {
                "`cram_uri` is for CRAM, and one line of text: name the output .cram".into()
            }
            Config { sort: true, format: Format::Sam, .. } => {
                "`sort` requires BAM or CRAM: name the output .bam or .cram".into()
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
