//! The parameters of counting: plain data, checked once.

#[cfg(feature = "cli")]
use merganser_run::options::cli;

pub use merganser_io::QualityOffset;
pub use merganser_kmers::formats::TableFormat as Format;
use merganser_seq::kmer::MAX_K;
use merganser_seq::signature::{self, Rule};
pub use merganser_store::Storage;

use merganser_run::options::Auto;
use merganser_run::{ConfigError, Shard};
use serde::Serialize;

use std::path::PathBuf;

use crate::Error;

/// The parameters of one counting run.
// The doc comments are the help of the command line. Fields that are not serialized are settled by the run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Bases of a k-mer, 1 to 128
    #[cfg_attr(feature = "cli", arg(short, value_name = "K", value_parser = cli::kmer_length))]
    pub k: usize,
    /// Count only the k-mers of FILE: a table in any format, or the k-mers of sequences in FASTA or FASTQ
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", conflicts_with = "stats_only"))]
    #[serde(skip)]
    pub panel: Option<PathBuf>,
    /// Keep k-mers that occur at least N times; 1 keeps all, 0 also those of --panel that do not occur
    /// [default: 2; 1 with --shard or --panel]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    #[serde(skip)]
    pub min_count: Option<u32>,
    /// Keep k-mers that occur at most N times [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub max_count: Option<u32>,
    /// Count each k-mer as written in the read, separately from its reverse complement
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip)]
    pub forward_only: bool,
    /// Bases of a quality below Q break k-mers [default: quality is ignored]
    #[cfg_attr(feature = "cli", arg(long, value_name = "Q"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u8).range(0..=93)))]
    #[serde(rename = "min_quality")]
    pub min_qual: Option<u8>,
    /// Qualities of FASTQ are Phred+33, or Phred+64 as of old Illumina (1.3 to 1.7)
    // Qualities of alignments are always Phred+33.
    #[cfg_attr(feature = "cli", arg(long, value_name = "33|64", default_value_t))]
    #[cfg_attr(feature = "cli", arg(hide_default_value = true))]
    pub quality_offset: QualityOffset,
    /// Collapse each run of the same base to one base first (homopolymer compression)
    // Bases of low quality have been masked, and so are not bases, by then.
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(rename = "homopolymer_compressed")]
    pub hpc: bool,
    /// Count only shard I of N of the inputs, keeping all k-mers; kmers union joins the shards
    ///
    /// With a sample sheet, each shard takes some of the samples as a whole, with any options.
    // The output is an `.mgk` table without cutoffs; `merganser_io::shard` divides the inputs.
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N", conflicts_with = "stats_only"))]
    #[serde(skip)]
    pub shard: Option<Shard>,

    /// Keep intermediate data in memory while it fits, only in memory, or on disk
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHERE", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Resources"))]
    pub storage: Storage,
    /// Batches of reads that each GPU partitions at a time [default: 3; 8 where super-k-mers do not
    /// fit into --gpu-memory]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Resources"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u8).range(1..=MAX_STREAMS as i64)))]
    #[serde(skip)]
    pub gpu_streams: Option<u8>,

    /// Number of bins: a number or auto
    // No result depends on it.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Partitioning"))]
    #[serde(skip)]
    pub bins: Auto,
    /// Bases of a signature: a number or auto
    // `auto` is `Config::default_signature_len`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", default_value_t))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Partitioning"))]
    #[serde(skip)]
    pub minimizer_len: Auto,

    /// The rule that chooses signatures. No result depends on it.
    #[cfg_attr(feature = "cli", arg(skip = Rule::Gkc))]
    #[serde(skip)]
    pub rule: Rule,
    /// The format of the table.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub format: Format,
}

/// The largest number of bins: each needs a buffer in every worker.
pub const MAX_BINS: usize = 16384;
/// The largest number of streams: each needs a host thread and buffers on the device.
pub const MAX_STREAMS: usize = 16;

impl Config {
    /// Returns the default parameters for k-mers of `k` bases.
    pub fn new(k: usize) -> Config {
        Config {
            k,
            panel: None,
            min_count: None,
            max_count: None,
            forward_only: false,
            min_qual: None,
            quality_offset: QualityOffset::Phred33,
            hpc: false,
            rule: Rule::Gkc,
            minimizer_len: Auto::default(),
            bins: Auto::default(),
            storage: Storage::Auto,
            gpu_streams: None,
            format: Format::Mgk,
            shard: None,
        }
    }

    /// Returns the minimum count of k-mers in the table; the default is 1 for a shard or a panel, otherwise 2.
    pub fn least(&self) -> u32 {
        let keeps_all = self.shard.is_some() || self.panel.is_some();
        self.min_count.unwrap_or(if keeps_all { 1 } else { 2 })
    }

    /// Returns the largest count that enters the table.
    pub fn most(&self) -> u32 {
        self.max_count.unwrap_or(u32::MAX)
    }

    /// Returns whether k-mers and their reverse complements count together.
    pub fn is_canonical(&self) -> bool {
        !self.forward_only
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// [`Error::Config`], which names the field.
    pub fn validate(&self) -> Result<(), Error> {
        let fail = |message: String| Err(Error::Config(ConfigError::new(message)));
        if self.k == 0 || self.k > MAX_K {
            return fail(format!("`k` {} is out of range: 1 to {MAX_K}", self.k));
        }
        let (least, most) = (self.least(), self.most());
        if least == 0 && self.panel.is_none() {
            return fail("`min_count` 0 is out of range: 1 or more, or 0 with a `panel`".into());
        }
        if least == 0 && !self.format.has_zeros() {
            return fail(
                "`min_count` 0: only the text formats have counts of 0: use `format` tsv".into(),
            );
        }
        if self.panel.is_some() && self.shard.is_some() {
            return fail(
                "`panel`: leave `shard` out, and count each file in a run of its own".into(),
            );
        }
        if least > most {
            return fail(format!(
                "`min_count` {least} is larger than `max_count` {most}: no k-mer could be kept"
            ));
        }
        if self.shard.is_some() && (least, most) != (1, u32::MAX) {
            return fail(
                "`shard`: a k-mer that is rare in one shard may be frequent in all shards together: count with \
                 `min_count` 1 and no `max_count`, and apply the limits when the shards are joined"
                    .into(),
            );
        }
        if self.shard.is_some() && self.format != Format::Mgk {
            return fail("`shard`: shards are joined as .mgk tables: leave `format` out".into());
        }
        if let Some(p) = self.minimizer_len.0 {
            let (low, high) = (*signature::LENGTHS.start(), *signature::LENGTHS.end());
            if !signature::LENGTHS.contains(&p) || p > self.k {
                return fail(format!(
                    "`minimizer_len` {p} is out of range: {low} to {high}, and at most k"
                ));
            }
        }
        if self.bins.0.is_some_and(|bins| bins == 0 || bins > MAX_BINS) {
            return fail(format!("`bins` is out of range: 1 to {MAX_BINS}"));
        }
        if self
            .gpu_streams
            .is_some_and(|streams| !(1..=MAX_STREAMS).contains(&usize::from(streams)))
        {
            return fail(format!("`gpu_streams` is out of range: 1 to {MAX_STREAMS}"));
        }
        Ok(())
    }

    /// Returns the signature length that measures best for this k: 7 for k-mers up to 16 bases (the paper uses 7
    /// for k = 16), otherwise 9 (the paper uses 9 for k = 28); never more than k.
    pub fn default_signature_len(k: usize) -> usize {
        (if k <= 16 { 7 } else { 9 }).min(k)
    }

    /// Returns the number of bases of a signature in this run.
    pub fn signature_bases(&self) -> usize {
        self.minimizer_len.0.unwrap_or(Config::default_signature_len(self.k))
    }
}
