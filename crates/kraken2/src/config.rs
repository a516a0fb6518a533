//! What a run by a database of Kraken 2 is asked for.

use merganser_run::ConfigError;

use crate::{Error, Kraken2Rules, ReadShare};

/// How to classify reads by a database of Kraken 2.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Kraken2Config {
    /// How a read's taxon is chosen.
    pub rules: Kraken2Rules,
    /// Estimate the distinct minimizers of each taxon, for the report's two more columns.
    pub minimizers: bool,
    /// Lines only of reads that have a taxon.
    pub classified_only: bool,
    /// Reads that a thread takes at a time, at most; of pairs both mates count. No result depends on it.
    pub batch_records: Option<usize>,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
    /// Classify these of the reads alone, for others to do the rest; where minimizers are estimated,
    /// [whole blocks](ReadShare::at_blocks) of them.
    pub share: Option<ReadShare>,
}

impl Default for Kraken2Config {
    /// As [`Kraken2Config::new`] with Kraken 2's defaults.
    fn default() -> Kraken2Config {
        Kraken2Config::new(Kraken2Rules::default())
    }
}

impl Kraken2Config {
    /// These rules, lines of all reads, and no minimizers.
    pub fn new(rules: Kraken2Rules) -> Kraken2Config {
        Kraken2Config {
            rules,
            minimizers: false,
            classified_only: false,
            batch_records: None,
            any_names: false,
            share: None,
        }
    }

    /// Chooses taxa by these rules.
    #[must_use]
    pub fn rules(self, rules: Kraken2Rules) -> Kraken2Config {
        Kraken2Config { rules, ..self }
    }

    /// Estimates the distinct minimizers of each taxon, or does not.
    #[must_use]
    pub fn minimizers(self, minimizers: bool) -> Kraken2Config {
        Kraken2Config { minimizers, ..self }
    }

    /// Writes lines only of reads that have a taxon, or of all.
    #[must_use]
    pub fn classified_only(self, classified_only: bool) -> Kraken2Config {
        Kraken2Config { classified_only, ..self }
    }

    /// Has threads take so many reads at a time, at most.
    #[must_use]
    pub fn batch_records(self, batch_records: usize) -> Kraken2Config {
        Kraken2Config { batch_records: Some(batch_records), ..self }
    }

    /// Takes mates by their place, whatever their names, or compares these.
    #[must_use]
    pub fn any_names(self, any_names: bool) -> Kraken2Config {
        Kraken2Config { any_names, ..self }
    }

    /// Classifies these of the reads alone, or all.
    #[must_use]
    pub fn share(self, share: impl Into<Option<ReadShare>>) -> Kraken2Config {
        Kraken2Config { share: share.into(), ..self }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        if self.minimizers && self.share.as_ref().is_some_and(|share| !share.is_of_blocks()) {
            return Err(Error::Config(ConfigError::new(
                "distinct minimizers are estimated of whole blocks: a share of `ReadShare::at_blocks`",
            )));
        }
        self.rules.check()
    }
}
