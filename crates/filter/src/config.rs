//! Options of a filter: plain data that is validated once.

use std::fmt;
use std::str::FromStr;

use merganser_run::ConfigError;
use serde::{Serialize, Serializer};

use crate::Error;

/// The maximum number of edits of a pair: a number, or `N%` of the read's length, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A number of edits.
    Edits(u32),
    /// A percentage of the read's length, rounded down: 0 to 100, for mapping 0 to 99.
    Percent(u8),
}

impl Threshold {
    /// Returns the maximum number of edits for a read of `len` bases.
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
            || "give a number, e.g. 5, or a percentage of the read's length, e.g. 4%".to_owned();
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
    /// The method that decides pairs.
    #[derive(Default)]
    pub enum Method {
        /// The edit distance: every decision is correct.
        #[default]
        Exact = "exact",
        /// GateKeeper-GPU's rule (§2.1, §3.4), corrected so that it rejects no pair within the threshold.
        GateKeeper = "gatekeeper",
        /// SneakySnake's single net routing, which rejects no pair within the threshold.
        Snake = "snake",
        /// The computation of the published GateKeeper-GPU, for comparison. It can reject a pair within the
        /// threshold, and supports up to 32 edits.
        GateKeeperOriginal = "gatekeeper-original",
    }
}

merganser_run::named! {
    /// Handling of ambiguous letters: those other than A, C, G, T and U.
    #[derive(Default)]
    pub enum NMode {
        /// They match nothing, not even themselves.
        #[default]
        Mismatch = "mismatch",
        /// They match everything.
        Match = "match",
        /// A pair with such a letter is accepted, with an undefined number of edits.
        Pass = "pass",
    }
}

merganser_run::named! {
    /// Parts of the two sequences that are compared.
    #[derive(Default)]
    pub enum Align {
        /// The whole read with the whole segment: the distance of Needleman and Wunsch, for any two lengths.
        #[default]
        Global = "global",
        /// The whole read with any part of the segment: gaps before and after the read are free.
        SemiGlobal = "semiglobal",
    }
}

merganser_run::named! {
    /// Strands of a reference or a text that are searched, by jobs that find positions.
    #[derive(Default)]
    pub enum Strand {
        /// Both strands.
        #[default]
        Both = "both",
        /// Only the forward strand.
        Forward = "forward",
        /// Only the reverse complement.
        Reverse = "reverse",
    }
}

impl Strand {
    /// Whether a strand is searched.
    pub fn searches(self, reverse: bool) -> bool {
        self != if reverse { Strand::Forward } else { Strand::Reverse }
    }
}

/// Options of a filter.
///
/// ```
/// use merganser_filter::{Align, Config, Method, Threshold};
///
/// let (method, align) = (Method::Snake, Align::SemiGlobal);
/// let config = Config { method, align, ..Config::new(Threshold::Percent(4)) };
/// assert!(config.validate().is_ok());
/// ```
// The comments of fields are the help texts of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Config {
    /// Maximum edits of an accepted pair: a number, or N% of the read's length, rounded down
    #[cfg_attr(feature = "cli", arg(short = 'e', long, value_name = "N|N%"))]
    pub threshold: Threshold,
    /// Method that decides pairs
    #[cfg_attr(feature = "cli", arg(long, value_name = "METHOD", default_value_t))]
    pub method: Method,
    /// Whether N and other ambiguous letters match nothing (not even themselves), match everything, or make the
    /// pair undefined and accepted
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODE", default_value_t))]
    pub n_mode: NMode,
    /// Compare the whole read with the whole segment, or with any part of it
    #[cfg_attr(feature = "cli", arg(long, value_name = "ALIGN", default_value_t))]
    pub align: Align,
    /// Also decide each pair by the exact method, and count false accepts and false rejects
    #[cfg_attr(feature = "cli", arg(long))]
    pub verify: bool,
}

/// The maximum number of edits of [`Method::GateKeeperOriginal`]: each shift sets one bit of a 32-bit word.
pub(crate) const MAX_ORIGINAL: usize = 32;

/// The minimum number of bases for [`Method::GateKeeperOriginal`], which needs more than one word of 16 bases.
pub(crate) const MIN_ORIGINAL: usize = 17;

impl Config {
    /// Returns the default options with this threshold: exact, global, N matches nothing, nothing is verified.
    pub fn new(threshold: Threshold) -> Config {
        Config {
            threshold,
            method: Method::default(),
            n_mode: NMode::default(),
            align: Align::default(),
            verify: false,
        }
    }

    /// Checks that each value is in range.
    ///
    /// # Errors
    /// [`Error::Config`], which names the field.
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
