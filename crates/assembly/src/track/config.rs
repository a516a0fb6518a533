//! The settings of tracks.

use merganser_kmers::tables::{AnyTable, Description};
use merganser_run::ConfigError;

use crate::Error;
use crate::config::{UNCUT_MAX_COUNT, unfit};

/// The settings of tracks.
// The doc comments of the fields are the help texts of the command line.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct TrackConfig {
    /// Count in the reads of a k-mer that SEQUENCES should have once [default: by the model of
    /// kmers histogram]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X", help_heading = "Copies"))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["ploidy", "haplotypes"]))]
    pub coverage: Option<f64>,
    /// Copies of the genome in a cell, 1 to 6, for the model [default: 2]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Copies"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..=6)))]
    pub ploidy: Option<u32>,
    /// Haplotypes that SEQUENCES contain: 1 for a primary or collapsed assembly, 2 for both
    /// haplotypes of a diploid genome [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Copies"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..=6)))]
    pub haplotypes: Option<u32>,
    /// k-mers that occur at most N times in the reads are `low` [default: the valley of the
    /// histogram]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Copies"))]
    pub solid: Option<u32>,
}

/// The tracks that a run makes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The intervals of each [`Class`](super::Class).
    pub classes: bool,
    /// The number of copies according to the reads.
    pub expected: bool,
    /// The number of copies in the sequences.
    pub copies: bool,
}

impl Wanted {
    /// Whether the k-mers of the sequences must be counted.
    pub(super) fn counts_sequences(self) -> bool {
        self.classes || self.copies
    }

    /// Whether the coverage must be known.
    pub(super) fn needs_coverage(self) -> bool {
        self.classes || self.expected
    }
}

impl TrackConfig {
    /// Returns the number of haplotypes of the genome.
    pub(super) fn ploidy(&self) -> u32 {
        self.ploidy.unwrap_or(2)
    }

    /// Returns the number of haplotypes that the sequences contain.
    pub(super) fn haplotypes(&self) -> u32 {
        self.haplotypes.unwrap_or(1)
    }

    /// Checks the settings, and whether the table has what the tracks need.
    ///
    /// # Errors
    /// If a setting or the table is unsuitable.
    pub fn validate(&self, wanted: Wanted, table: &AnyTable, is_cut: bool) -> Result<(), Error> {
        let problem = |what: String| Err(Error::Config(ConfigError::new(what)));
        let coverage = [
            ("coverage", self.coverage.is_some()),
            ("ploidy", self.ploidy.is_some()),
            ("haplotypes", self.haplotypes.is_some()),
        ];
        if let Some((name, _)) = coverage.iter().find(|given| given.1)
            && !wanted.needs_coverage()
        {
            return problem(format!("`{name}` requires `classes` or `expected`"));
        }
        if self.solid.is_some() && !wanted.classes {
            return problem("`solid` requires `classes`".into());
        }
        if let Some(coverage) = self.coverage
            && !(MIN_COVERAGE..=MAX_COVERAGE).contains(&coverage)
        {
            return problem(format!(
                "`coverage` is {coverage}: {MIN_COVERAGE} to {MAX_COVERAGE} are possible"
            ));
        }
        if self.haplotypes() > self.ploidy() {
            return problem(format!(
                "`haplotypes` is {}, but `ploidy` is {}: a cell has all haplotypes",
                self.haplotypes(),
                self.ploidy()
            ));
        }
        let description = table.description();
        let reason = if description.homopolymer_compressed {
            "its reads were homopolymer-compressed, and positions of sequences that are not are wanted: count without `hpc`"
                .into()
        } else if is_cut && (wanted.classes || wanted.expected) {
            "`classes` and `expected` need all its k-mers: leave out the bounds of its counts"
                .into()
        } else if let Some(reason) = unfit(description, 1, "")
            && (wanted.classes || (wanted.expected && lacks_more_than_low_counts(description)))
        {
            reason
        } else if !description.canonical && (wanted.copies || wanted.expected) {
            "k-mers of both strands must be counted together: count without forward-only".into()
        } else {
            return Ok(());
        };
        Err(merganser_kmers::Error::Table { path: table.path().to_owned(), reason }.into())
    }
}

/// Whether a table lacks k-mers that have not a low count.
fn lacks_more_than_low_counts(table: &Description) -> bool {
    table.max_count < UNCUT_MAX_COUNT || table.is_only_given()
}

/// The smallest and the largest coverage.
const MIN_COVERAGE: f64 = 0.01;
const MAX_COVERAGE: f64 = 1e9;
