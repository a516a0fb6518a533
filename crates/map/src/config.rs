//! What to report and how to find it: plain data, checked once.

use merganser_filter::{NMode, Threshold};

use merganser_run::ConfigError;

use crate::Error;

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

/// The parameters of a mapping; the output depends on these alone, on the reference and the reads
/// ([`Config::filter`] changes how fast it is, not what it finds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Least and largest outer distance of the mates of a concordant pair, in bases.
    pub insert: [u32; 2],
    /// Use only so many bases of each read, from its first on.
    pub crop: Option<u32>,
}

/// The longest read, in bases.
pub const MOST_READ: usize = 1 << 14;

impl Config {
    /// All hits within `threshold` edits on both strands; N matches nothing; mates 0 to 500 bases
    /// apart.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            metric: Metric::default(),
            strand: Strand::default(),
            n_mode: NMode::default(),
            filter: Prefilter::default(),
            select: Select::default(),
            max_hits: 0,
            insert: [0, 500],
            crop: None,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Config`], naming the option as the command line does.
    pub fn validate(&self) -> Result<(), Error> {
        let problem = match *self {
            Config { threshold: Threshold::Percent(100..), .. } => {
                "`threshold` is out of range: 0% to 99%".into()
            }
            Config { threshold: Threshold::Edits(edits), .. } if edits as usize >= MOST_READ => {
                format!("`threshold` is out of range: 0 to {}", MOST_READ - 1)
            }
            Config { insert: [least, most], .. } if least > most => {
                format!("`min_insert` {least} is above `max_insert` {most}")
            }
            Config { n_mode: NMode::Pass, .. } => "`n_mode` is out of range: not pass".into(),
            Config { crop: Some(0), .. } => "`crop` is out of range: 1 or more".into(),
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }
}
