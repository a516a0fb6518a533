//! What is removed and how the rest is written: plain data, checked once.

use crate::{Error, Thresholds};

/// How records that are written are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// As they were.
    #[default]
    Kept,
    /// 1, 2 and so on, in the order of the output; the mates of a pair have one number, and `/1` and `/2` behind it.
    Numbered,
}

/// What is removed and how the rest is written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// What makes a read or pair a match.
    pub thresholds: Thresholds,
    /// Only so many bases of each read are looked at, from its first on; 0: all.
    pub prefix: usize,
    /// Matches are kept and the others removed, not the other way round.
    pub keep: bool,
    /// How what is kept is named.
    pub names: Names,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
}

impl Config {
    /// Removes what matches by Deacon's usual thresholds.
    pub fn new() -> Config {
        Config::default()
    }

    /// Matches by these.
    #[must_use]
    pub fn thresholds(self, thresholds: Thresholds) -> Config {
        Config { thresholds, ..self }
    }

    /// Looks at so many bases of each read, or with 0 at all.
    #[must_use]
    pub fn prefix(self, prefix: usize) -> Config {
        Config { prefix, ..self }
    }

    /// Keeps matches, or removes them.
    #[must_use]
    pub fn keep(self, keep: bool) -> Config {
        Config { keep, ..self }
    }

    /// Names what is kept so.
    #[must_use]
    pub fn names(self, names: Names) -> Config {
        Config { names, ..self }
    }

    /// Takes mates by their place, whatever their names, or compares these.
    #[must_use]
    pub fn any_names(self, any_names: bool) -> Config {
        Config { any_names, ..self }
    }

    /// Checks the thresholds.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        self.thresholds.validate()
    }
}
