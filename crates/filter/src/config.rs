//! What to accept and how to decide: plain data, checked once.

use merganser_run::ConfigError;

use crate::Error;

/// How many edits a pair may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// This many.
    Edits(u32),
    /// This share of the read's length, 0 to 100, rounded down.
    Percent(u8),
}

impl Threshold {
    /// The edits that a read of `len` bases may have.
    #[inline]
    pub fn edits(self, len: usize) -> usize {
        match self {
            Threshold::Edits(edits) => edits as usize,
            Threshold::Percent(percent) => len * usize::from(percent) / 100,
        }
    }
}

/// How a pair is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// By the edit distance: every decision is the truth.
    #[default]
    Exact,
    /// By GateKeeper-GPU's rule (§2.1, §3.4), made safe: no pair within the threshold is rejected.
    GateKeeper,
    /// By SneakySnake's single net routing: no pair within the threshold is rejected.
    Snake,
    /// By what the published GateKeeper-GPU computes, to compare with: it can reject a pair within
    /// the threshold. Up to 32 edits.
    GateKeeperOriginal,
}

impl Method {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::GateKeeper => "gatekeeper",
            Method::Snake => "snake",
            Method::GateKeeperOriginal => "gatekeeper-original",
        }
    }
}

/// What letters other than A, C, G, T and U are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NMode {
    /// They match nothing, not even themselves.
    #[default]
    Mismatch,
    /// They match everything.
    Match,
    /// A pair that has one is accepted, with an undefined number of edits.
    Pass,
}

/// What of the two sequences is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// All of both: the distance of Needleman and Wunsch, of any two lengths.
    #[default]
    Global,
    /// All of the read with any part of the segment: gaps before and after it are free.
    SemiGlobal,
}

/// How pairs are decided.
///
/// ```
/// use merganser_filter::{Align, Config, Method, Threshold};
///
/// let config = Config::new(Threshold::Percent(4)).method(Method::Snake).align(Align::SemiGlobal);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How many edits a pair may have.
    pub threshold: Threshold,
    /// How a pair is decided.
    pub method: Method,
    /// What letters other than A, C, G, T and U are.
    pub n_mode: NMode,
    /// What of the two sequences is compared.
    pub align: Align,
    /// Decide each pair by the exact method too, and count where the two differ; of whole files
    /// alone ([`run`](crate::run())).
    pub verify: bool,
}

/// The most edits of [`Method::GateKeeperOriginal`]: a shift sets a bit of a word of 32.
pub(crate) const MOST_ORIGINAL: usize = 32;

/// The fewest bases of [`Method::GateKeeperOriginal`]: two words of 16.
pub(crate) const LEAST_ORIGINAL: usize = 17;

impl Config {
    /// The defaults: exact, global, N matches nothing, nothing is verified.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            method: Method::default(),
            n_mode: NMode::default(),
            align: Align::default(),
            verify: false,
        }
    }

    /// Allows so many edits.
    #[must_use]
    pub fn threshold(self, threshold: Threshold) -> Config {
        Config { threshold, ..self }
    }

    /// Decides pairs in this way.
    #[must_use]
    pub fn method(self, method: Method) -> Config {
        Config { method, ..self }
    }

    /// Takes letters that are no bases as this.
    #[must_use]
    pub fn n_mode(self, n_mode: NMode) -> Config {
        Config { n_mode, ..self }
    }

    /// Compares so much of the two sequences.
    #[must_use]
    pub fn align(self, align: Align) -> Config {
        Config { align, ..self }
    }

    /// Decides each pair by the exact method too, or not.
    #[must_use]
    pub fn verify(self, verify: bool) -> Config {
        Config { verify, ..self }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        match self.threshold {
            Threshold::Percent(101..) => {
                Err(Error::Config(ConfigError::new("`threshold` is out of range: 0% to 100%")))
            }
            Threshold::Edits(edits)
                if self.method == Method::GateKeeperOriginal && edits as usize > MOST_ORIGINAL =>
            {
                Err(Error::Config(ConfigError::new(format!(
                    "`threshold` {edits} is out of range: `method` gatekeeper-original allows 0 to \
                     {MOST_ORIGINAL}; `method` exact any number"
                ))))
            }
            _ => Ok(()),
        }
    }
}
