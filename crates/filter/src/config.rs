//! What to accept and how to decide: plain data, checked once.

use std::fmt;
use std::str::FromStr;

use merganser_run::ConfigError;
use serde::{Serialize, Serializer};

use crate::Error;

/// How many edits a pair may have: a number, or `N%` of the read's length, rounded down.
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

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Threshold, String> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let threshold = match text.strip_suffix('%') {
            Some(percent) if digits(percent) => percent.parse().ok().map(Threshold::Percent),
            None if digits(text) => text.parse().ok().map(Threshold::Edits),
            _ => None,
        };
        let wrong =
            || "give a number of edits, e.g. 5, or of the read's length, e.g. 4%".to_owned();
        threshold.ok_or_else(wrong)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Edits(edits) => write!(formatter, "{edits}"),
            Threshold::Percent(percent) => write!(formatter, "{percent}%"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

merganser_run::named! {
    /// How a pair is decided.
    #[derive(Default)]
    pub enum Method {
        /// By the edit distance: every decision is the truth.
        #[default]
        Exact = "exact",
        /// By GateKeeper-GPU's rule (§2.1, §3.4), made safe: no pair within the threshold is rejected.
        GateKeeper = "gatekeeper",
        /// By SneakySnake's single net routing: no pair within the threshold is rejected.
        Snake = "snake",
        /// By what the published GateKeeper-GPU computes, to compare with: it can reject a pair within
        /// the threshold. Up to 32 edits.
        GateKeeperOriginal = "gatekeeper-original",
    }
}

merganser_run::named! {
    /// What letters other than A, C, G, T and U are.
    #[derive(Default)]
    pub enum NMode {
        /// They match nothing, not even themselves.
        #[default]
        Mismatch = "mismatch",
        /// They match everything.
        Match = "match",
        /// A pair that has one is accepted, with an undefined number of edits.
        Pass = "pass",
    }
}

merganser_run::named! {
    /// What of the two sequences is compared.
    #[derive(Default)]
    pub enum Align {
        /// All of both: the distance of Needleman and Wunsch, of any two lengths.
        #[default]
        Global = "global",
        /// All of the read with any part of the segment: gaps before and after it are free.
        SemiGlobal = "semiglobal",
    }
}

/// How pairs are decided.
///
/// ```
/// use merganser_filter::{Align, Config, Method, Threshold};
///
/// let (method, align) = (Method::Snake, Align::SemiGlobal);
/// let config = Config { method, align, ..Config::new(Threshold::Percent(4)) };
/// assert!(config.validate().is_ok());
/// ```
// These comments are the help of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Edits that an accepted pair may have: a number, or N% of the read's length, rounded down
    #[cfg_attr(feature = "cli", arg(short = 'e', long, value_name = "N|N%"))]
    pub threshold: Threshold,
    /// How pairs are decided
    #[cfg_attr(feature = "cli", arg(long, value_name = "METHOD", default_value_t))]
    pub method: Method,
    /// Letters that are no bases match nothing (not even themselves), match everything, or make the
    /// pair undefined and accepted
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODE", default_value_t))]
    pub n_mode: NMode,
    /// Compare the whole read with the whole segment, or with any part of it
    #[cfg_attr(feature = "cli", arg(long, value_name = "ALIGN", default_value_t))]
    pub align: Align,
    /// Count false accepts and false rejects: decides each pair by the exact method, too
    #[cfg_attr(feature = "cli", arg(long))]
    pub verify: bool,
}

/// The most edits of [`Method::GateKeeperOriginal`]: a shift sets a bit of a word of 32.
pub(crate) const MAX_ORIGINAL: usize = 32;

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
                if self.method == Method::GateKeeperOriginal && edits as usize > MAX_ORIGINAL =>
            {
                Err(Error::Config(ConfigError::new(format!(
                    "`threshold` {edits} is out of range: `method` gatekeeper-original allows 0 to \
                     {MAX_ORIGINAL}; `method` exact any number"
                ))))
            }
            _ => Ok(()),
        }
    }
}
