//! What to count and how: plain data, checked once.

pub use merganser_io::QualityOffset;
use merganser_kmers::formats::TableFormat;
use merganser_seq::kmer::MAX_K;
use merganser_seq::signature::{self, Rule};
pub use merganser_store::Storage;

use merganser_run::{ConfigError, Shard};

use crate::Error;

/// How the table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own table, one file.
    Mgk,
    /// A KMC1 database, two files (`X.kmc_pre`, `X.kmc_suf`), as kmc_tools reads.
    Kmc,
    /// A KFF file.
    Kff,
    /// `KMER<TAB>COUNT` lines.
    Tsv,
    /// Columns `kmer` and `count`, with the feature `parquet`.
    Parquet,
    /// No table: totals and histogram only.
    None,
}

impl From<Format> for TableFormat {
    fn from(format: Format) -> TableFormat {
        match format {
            Format::Mgk => TableFormat::Mgk,
            Format::Kmc => TableFormat::Kmc,
            Format::Kff => TableFormat::Kff,
            Format::Tsv => TableFormat::Tsv,
            Format::Parquet => TableFormat::Parquet,
            Format::None => TableFormat::None,
        }
    }
}

/// The parameters of one counting run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Bases of a k-mer, 1 to 128.
    pub k: usize,
    /// Count k-mers and their reverse complements together.
    pub canonical: bool,
    /// The least count that enters the table, at least 1.
    pub min_count: u32,
    /// The largest count that enters the table.
    pub max_count: u32,
    /// Bases of lower quality (Phred) break k-mers.
    pub min_quality: Option<u8>,
    /// What qualities of FASTQ are, Phred+33 or Phred+64. Those of alignments are Phred+33.
    pub quality_offset: QualityOffset,
    /// Count what is left of reads when runs of the same base are one base each.
    pub homopolymer_compressed: bool,
    /// How signatures are chosen. No result depends on it.
    pub rule: Rule,
    /// Bases of a signature, `None` for [`Config::default_signature_len`].
    pub signature_len: Option<usize>,
    /// Number of bins, `None` to choose by the size of the input. No result depends on it.
    pub bins: Option<usize>,
    /// Where super-k-mers and results wait between the phases. No result depends on it.
    pub storage: Storage,
    /// Batches of reads that each GPU cuts at a time (streams), 1 to [`MAX_STREAMS`]; `None` for
    /// 3, and 8 where super-k-mers do not fit into [`gpu_memory`](merganser_run::Resources::gpu_memory).
    pub gpu_streams: Option<usize>,
    /// How the table is written.
    pub format: Format,
    /// Count but a part of the inputs, as one of so many shards: all k-mers of it (no cut), into an `.mgk`
    /// table that [`join`](merganser_kmers::algebra::join()) takes. The inputs are divided as
    /// [`merganser_io::shard`] does.
    pub shard: Option<Shard>,
}

/// The most bins: each needs a buffer in every worker.
pub const MAX_BINS: usize = 8192;
/// The most streams: each takes a host thread and buffers on the device.
pub const MAX_STREAMS: usize = 16;

impl Config {
    /// The defaults for k-mers of `k` bases: canonical, minimum count 2.
    pub fn new(k: usize) -> Config {
        Config {
            k,
            canonical: true,
            min_count: 2,
            max_count: u32::MAX,
            min_quality: None,
            quality_offset: QualityOffset::Phred33,
            homopolymer_compressed: false,
            rule: Rule::Gkc,
            signature_len: None,
            bins: None,
            storage: Storage::Auto,
            gpu_streams: None,
            format: Format::Mgk,
            shard: None,
        }
    }

    /// Counts k-mers and their reverse complements together, or each as it stands.
    #[must_use]
    pub fn canonical(self, canonical: bool) -> Config {
        Config { canonical, ..self }
    }

    /// Keeps k-mers that occur so often or more.
    #[must_use]
    pub fn min_count(self, min_count: u32) -> Config {
        Config { min_count, ..self }
    }

    /// Keeps k-mers that occur so often or less.
    #[must_use]
    pub fn max_count(self, max_count: u32) -> Config {
        Config { max_count, ..self }
    }

    /// Has bases of lower quality (Phred) break k-mers.
    #[must_use]
    pub fn min_quality(self, min_quality: Option<u8>) -> Config {
        Config { min_quality, ..self }
    }

    /// Reads qualities of FASTQ as Phred+33 or Phred+64.
    #[must_use]
    pub fn quality_offset(self, quality_offset: QualityOffset) -> Config {
        Config { quality_offset, ..self }
    }

    /// Makes one base of each run of the same base first. Those of low quality have become letters that are no bases by then.
    #[must_use]
    pub fn homopolymer_compressed(self, homopolymer_compressed: bool) -> Config {
        Config { homopolymer_compressed, ..self }
    }

    /// Chooses signatures by this rule.
    #[must_use]
    pub fn rule(self, rule: Rule) -> Config {
        Config { rule, ..self }
    }

    /// Takes signatures of so many bases; `None` for the default.
    #[must_use]
    pub fn signature_len(self, signature_len: Option<usize>) -> Config {
        Config { signature_len, ..self }
    }

    /// Takes so many bins; `None` to choose by the size of the input.
    #[must_use]
    pub fn bins(self, bins: Option<usize>) -> Config {
        Config { bins, ..self }
    }

    /// Lets super-k-mers and results wait there.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Config {
        Config { storage, ..self }
    }

    /// Cuts so many batches at a time on each GPU; `None` for the default.
    #[must_use]
    pub fn gpu_streams(self, gpu_streams: Option<usize>) -> Config {
        Config { gpu_streams, ..self }
    }

    /// Writes the table so.
    #[must_use]
    pub fn format(self, format: Format) -> Config {
        Config { format, ..self }
    }

    /// Counts but this part of the inputs.
    #[must_use]
    pub fn shard(self, shard: Option<Shard>) -> Config {
        Config { shard, ..self }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        let fail = |message: String| Err(Error::Config(ConfigError::new(message)));
        if self.k == 0 || self.k > MAX_K {
            return fail(format!("`k` {} is out of range: 1 to {MAX_K}", self.k));
        }
        if self.min_count == 0 {
            return fail("`min_count` 0 is out of range: 1 or more".into());
        }
        if self.min_count > self.max_count {
            return fail(format!(
                "`min_count` {} is larger than `max_count` {}: no k-mer could be kept",
                self.min_count, self.max_count
            ));
        }
        if self.shard.is_some() && (self.min_count, self.max_count) != (1, u32::MAX) {
            return fail(
                "`shard`: a k-mer that is rare in one shard may not be in all: count with `min_count` 1 and \
                 no `max_count`, and cut when shards are joined"
                    .into(),
            );
        }
        if self.shard.is_some() && self.format != Format::Mgk {
            return fail("`shard`: shards are joined as .mgk tables: leave `format` out".into());
        }
        if let Some(p) = self.signature_len {
            let (low, high) = (*signature::LENGTHS.start(), *signature::LENGTHS.end());
            if !signature::LENGTHS.contains(&p) || p > self.k {
                return fail(format!(
                    "`signature_len` {p} is out of range: {low} to {high}, and at most k"
                ));
            }
        }
        if self.bins.is_some_and(|bins| bins == 0 || bins > MAX_BINS) {
            return fail(format!("`bins` is out of range: 1 to {MAX_BINS}"));
        }
        if self.gpu_streams.is_some_and(|streams| !(1..=MAX_STREAMS).contains(&streams)) {
            return fail(format!("`gpu_streams` is out of range: 1 to {MAX_STREAMS}"));
        }
        Ok(())
    }

    /// The signature length that measures best for this k: 7 for k-mers up to 16 (as the paper
    /// has for k = 16), 9 above (k = 28); never more than k.
    pub fn default_signature_len(k: usize) -> usize {
        (if k <= 16 { 7 } else { 9 }).min(k)
    }

    /// The bases of a signature that the run takes.
    pub fn signature_bases(&self) -> usize {
        self.signature_len.unwrap_or(Config::default_signature_len(self.k))
    }
}
