//! What is asked for: how a database is built, and how reads are classified.

mod line_format;

pub use line_format::{Columns, LineFormat, Taxids};

use std::path::PathBuf;

use merganser_run::ConfigError;

use crate::Error;
use crate::decide::Thresholds;
use crate::params::Params;
use crate::read_filter::ReadFilter;
use merganser_kraken2::ReadShare;
use merganser_taxonomy::Rank;

/// The most parts of a database.
pub(crate) const MAX_PARTS: usize = 256;

/// How to build a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildConfig {
    /// The sketching parameters. Databases that are added to keep their own.
    pub params: Params,
    /// Leave out features with more locations than may be kept.
    pub drop_overfull: bool,
    /// Leave out features that belong to more than `.1` taxa of rank `.0`.
    pub drop_ambiguous: Option<(Rank, u32)>,
    /// Parts of the database, by targets, 1 to 256.
    pub parts: usize,
    /// Bytes that the tables of a part should not exceed; parts are added until about that holds.
    pub max_part_bytes: Option<u64>,
    /// Files that map sequence ids or assemblies to taxids, the first one first, and manifests of
    /// libraries ([`Manifest`](merganser_library::Manifest)), which map files.
    pub maps: Vec<PathBuf>,
    /// Maps in folders of references ([`References::maps`](merganser_library::References::maps)), which are looked in
    /// with those beside the references.
    pub maps_beside: Vec<PathBuf>,
    /// Fail if a sequence has no taxon or an id occurs twice.
    pub strict: bool,
    /// Leave sequences without a taxon out of what is added to a database, which are an error otherwise.
    /// (A new database never has them.)
    pub allow_unmapped: bool,
}

impl BuildConfig {
    /// The defaults for these sketching parameters: one part, nothing left out.
    pub fn new(params: Params) -> BuildConfig {
        BuildConfig {
            params,
            drop_overfull: false,
            drop_ambiguous: None,
            parts: 1,
            max_part_bytes: None,
            maps: Vec::new(),
            maps_beside: Vec::new(),
            strict: false,
            allow_unmapped: false,
        }
    }

    /// Takes these sketching parameters.
    #[must_use]
    pub fn params(self, params: Params) -> BuildConfig {
        BuildConfig { params, ..self }
    }

    /// Leaves out, or not, features with more locations than may be kept.
    #[must_use]
    pub fn drop_overfull(self, drop_overfull: bool) -> BuildConfig {
        BuildConfig { drop_overfull, ..self }
    }

    /// Leaves out features that belong to more than so many taxa of a rank, or none for that.
    #[must_use]
    pub fn drop_ambiguous(self, drop_ambiguous: impl Into<Option<(Rank, u32)>>) -> BuildConfig {
        BuildConfig { drop_ambiguous: drop_ambiguous.into(), ..self }
    }

    /// Cuts the database into so many parts.
    #[must_use]
    pub fn parts(self, parts: usize) -> BuildConfig {
        BuildConfig { parts, ..self }
    }

    /// Adds parts until the tables of each have no more than about so many bytes.
    #[must_use]
    pub fn max_part_bytes(self, max_part_bytes: impl Into<Option<u64>>) -> BuildConfig {
        BuildConfig { max_part_bytes: max_part_bytes.into(), ..self }
    }

    /// Takes taxids from these files.
    #[must_use]
    pub fn maps(self, maps: impl Into<Vec<PathBuf>>) -> BuildConfig {
        BuildConfig { maps: maps.into(), ..self }
    }

    /// Takes taxids from these files beside references, too.
    #[must_use]
    pub fn maps_beside(self, maps_beside: impl Into<Vec<PathBuf>>) -> BuildConfig {
        BuildConfig { maps_beside: maps_beside.into(), ..self }
    }

    /// Fails, or does not, if a sequence has no taxon or an id occurs twice.
    #[must_use]
    pub fn strict(self, strict: bool) -> BuildConfig {
        BuildConfig { strict, ..self }
    }

    /// Leaves sequences without a taxon out of additions, or refuses them.
    #[must_use]
    pub fn allow_unmapped(self, allow_unmapped: bool) -> BuildConfig {
        BuildConfig { allow_unmapped, ..self }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        self.params.validate()?;
        match (1..=MAX_PARTS).contains(&self.parts) {
            true => Ok(()),
            false => Err(refused(format!("{} parts: give 1 to {MAX_PARTS}", self.parts))),
        }
    }
}

/// How to classify reads.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunConfig {
    /// How a taxon is chosen.
    pub thresholds: Thresholds,
    /// What of the reads takes part.
    pub filter: ReadFilter,
    /// What a read's line looks like.
    pub format: LineFormat,
    /// Lines only of reads that have a taxon.
    pub classified_only: bool,
    /// Count features by taxon, for the report's two more columns. The database has to fit into memory
    /// as a whole, then.
    pub features: bool,
    /// Count hits by reference sequence.
    pub references: bool,
    /// Leave out candidates of the references with the lowest coverage, which together have no
    /// more than so many per mille of the coverage of all
    /// ([`above_percentile`](crate::ReferenceHits::above_percentile)), 0 to 1,000. Reads and
    /// their candidates then wait in temporary storage until all have been seen.
    pub coverage_per_mille: u32,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
    /// Classify these of the reads alone, for others to do the rest. What is written is what all reads
    /// have of them: lines before the first read are the first shard's.
    pub share: Option<ReadShare>,
}

impl RunConfig {
    /// These thresholds; Kraken's lines of all reads, of which all take part, and nothing else.
    pub fn new(thresholds: Thresholds) -> RunConfig {
        RunConfig {
            thresholds,
            filter: ReadFilter::default(),
            format: LineFormat::Kraken { names: false },
            classified_only: false,
            features: false,
            references: false,
            coverage_per_mille: 0,
            any_names: false,
            share: None,
        }
    }

    /// Chooses taxa by these thresholds.
    #[must_use]
    pub fn thresholds(self, thresholds: Thresholds) -> RunConfig {
        RunConfig { thresholds, ..self }
    }

    /// Has only what this filter lets through take part.
    #[must_use]
    pub fn filter(self, filter: ReadFilter) -> RunConfig {
        RunConfig { filter, ..self }
    }

    /// Writes lines of this format.
    #[must_use]
    pub fn format(self, format: LineFormat) -> RunConfig {
        RunConfig { format, ..self }
    }

    /// Writes lines only of reads that have a taxon, or of all.
    #[must_use]
    pub fn classified_only(self, classified_only: bool) -> RunConfig {
        RunConfig { classified_only, ..self }
    }

    /// Counts features by taxon, or does not.
    #[must_use]
    pub fn features(self, features: bool) -> RunConfig {
        RunConfig { features, ..self }
    }

    /// Counts hits by reference sequence, or does not.
    #[must_use]
    pub fn references(self, references: bool) -> RunConfig {
        RunConfig { references, ..self }
    }

    /// Leaves out the references with the lowest coverage, of so many per mille of that of all.
    #[must_use]
    pub fn coverage_per_mille(self, coverage_per_mille: u32) -> RunConfig {
        RunConfig { coverage_per_mille, ..self }
    }

    /// Takes mates by their place, whatever their names, or compares these.
    #[must_use]
    pub fn any_names(self, any_names: bool) -> RunConfig {
        RunConfig { any_names, ..self }
    }

    /// Classifies these of the reads alone, or all.
    #[must_use]
    pub fn share(self, share: impl Into<Option<ReadShare>>) -> RunConfig {
        RunConfig { share: share.into(), ..self }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        let Thresholds { lowest, highest, max_candidates, .. } = self.thresholds;
        if max_candidates == 0 {
            return Err(refused("`max_candidates` 0 is out of range: 1 or more"));
        }
        if lowest > highest {
            return Err(refused("`lowest` is above `highest`"));
        }
        if !(0.0..=1.0).contains(&self.thresholds.confidence) {
            return Err(refused(format!(
                "`confidence` {} is out of range: 0 to 1",
                self.thresholds.confidence
            )));
        }
        if self.coverage_per_mille > 0 && self.share.is_some() {
            return Err(refused(
                "`coverage_per_mille` leaves out sequences by what all reads hit, and a `shard` has \
                 some of them",
            ));
        }
        match self.coverage_per_mille {
            0..=1000 => Ok(()),
            most => Err(refused(format!("`coverage_per_mille` {most} is out of range: 0 to 1000"))),
        }
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::Config(ConfigError::new(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Preset;

    #[test]
    fn what_is_out_of_range_is_named() {
        let params = Preset::Sensitive.params();
        assert!(BuildConfig::new(params).validate().is_ok());
        let error = BuildConfig::new(params).parts(257).validate().unwrap_err();
        assert_eq!(error.to_string(), "257 parts: give 1 to 256");
        let thresholds = Thresholds::new(&params);
        let config = RunConfig::new(thresholds);
        assert!(config.validate().is_ok());
        for (config, message) in [
            (
                config.clone().thresholds(Thresholds { max_candidates: 0, ..thresholds }),
                "`max_candidates` 0 is out of range: 1 or more",
            ),
            (
                config.clone().thresholds(Thresholds { lowest: Rank::Root, ..thresholds }),
                "`lowest` is above `highest`",
            ),
            (
                config.clone().coverage_per_mille(1001),
                "`coverage_per_mille` 1001 is out of range: 0 to 1000",
            ),
        ] {
            assert_eq!(config.validate().unwrap_err().to_string(), message);
        }
    }
}
