//! What to count and how: plain data, checked once.

use std::path::PathBuf;

use merganser_kmers::formats::TableFormat;
pub use merganser_kmers::store::Storage;
use merganser_seq::kmer::MAX_K;
use merganser_seq::signature::{self, Rule};

use merganser_run::ConfigError;

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
pub struct Config {
    /// Bases of a k-mer, 1 to 128.
    pub k: usize,
    /// Count k-mers and their reverse complements together.
    pub canonical: bool,
    /// The least count that enters the table, at least 1.
    pub min_count: u32,
    /// The largest count that enters the table.
    pub max_count: u32,
    /// Bases of lower quality (Phred, from letters of Phred+33) break k-mers.
    pub min_quality: Option<u8>,
    /// How signatures are chosen. No result depends on it.
    pub rule: Rule,
    /// Bases of a signature, `None` for [`Config::default_signature_len`].
    pub signature_len: Option<usize>,
    /// Number of bins, `None` to choose by the size of the input. No result depends on it.
    pub bins: Option<usize>,
    /// Where super-k-mers and results wait between the phases. No result depends on it.
    pub storage: Storage,
    /// Memory in bytes that the whole process may use.
    pub memory: u64,
    /// Directory of temporary files.
    pub tmp_dir: PathBuf,
    /// Worker threads in all.
    pub threads: usize,
    /// GPUs to count on, by CUDA's numbers; one listed twice is used as two. Empty for the CPU
    /// alone. No result depends on it.
    pub devices: Vec<u32>,
    /// Bytes of memory to use on each GPU, `None` for what is free.
    pub gpu_memory: Option<u64>,
    /// Batches of reads that each GPU cuts at a time (streams), 1 to [`MAX_STREAMS`]; `None` for
    /// 3, and 8 where super-k-mers do not fit into [`gpu_memory`](Config::gpu_memory).
    pub gpu_streams: Option<usize>,
    /// How the table is written.
    pub format: Format,
}

/// The most bins: each needs a buffer in every worker.
pub const MAX_BINS: usize = 8192;
/// The most streams: each takes a host thread and buffers on the device.
pub const MAX_STREAMS: usize = 16;

impl Config {
    /// The defaults for k-mers of `k` bases: canonical, minimum count 2, all cores, the default
    /// memory budget.
    pub fn new(k: usize) -> Config {
        Config {
            k,
            canonical: true,
            min_count: 2,
            max_count: u32::MAX,
            min_quality: None,
            rule: Rule::Gkc,
            signature_len: None,
            bins: None,
            storage: Storage::Auto,
            memory: merganser_run::default_budget(),
            tmp_dir: std::env::temp_dir(),
            threads: merganser_run::resolve_threads(None),
            devices: Vec::new(),
            gpu_memory: None,
            gpu_streams: None,
            format: Format::Mgk,
        }
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
        if self.threads == 0 {
            return fail("`threads` 0 is out of range: 1 or more".into());
        }
        Ok(())
    }

    /// The signature length that measures best for this k: 7 for k-mers up to 16 (as the paper
    /// has for k = 16), 9 above (k = 28); never more than k.
    pub fn default_signature_len(k: usize) -> usize {
        (if k <= 16 { 7 } else { 9 }).min(k)
    }

    /// The signature length that the run takes.
    pub fn signature_len(&self) -> usize {
        self.signature_len.unwrap_or(Config::default_signature_len(self.k))
    }
}
