//! Bracken: from the reads of each taxon to the reads of each species (Lu, Breitwieser, Thielen and
//! Salzberg, 2017).
//!
//! A [`Distribution`] says to which taxa the reads of each genome of a library are assigned by a
//! database: every stretch of N letters of every sequence is taken for a read without errors, and
//! classified. It is the file `databaseNmers.kmer_distrib` of Bracken. With it, an [`Estimate`] takes the reads
//! of a report that only a genus or a higher taxon is known of back to their species.

mod estimate;
mod file;

use std::collections::BTreeSet;

pub use estimate::{Estimate, EstimateNotes, Level};

/// Reads of a genome that were assigned to a taxon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The genome's taxid.
    pub genome: u32,
    /// Its reads that were assigned to the taxon,
    pub reads: u64,
    /// and all of its reads, those without a taxon included.
    pub total: u64,
}

/// A distribution: for each taxon that reads of the library were assigned to, 0 (none) too, the
/// genomes that these reads come from. As it is made, taxa and genomes are in the order in which the
/// library has them first; taxa that a sequence has first, by taxid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// The taxid that reads were assigned to, and the genomes.
    pub rows: Vec<(u32, Vec<Share>)>,
    /// Names of sequences that have no taxid, and are left out.
    pub unmapped: Vec<String>,
    /// Taxids of the database, sorted, that genomes were given and no read of the library is from: of
    /// a database of Kraken 2, of its lowest taxa. Their reads cannot be given back.
    pub missing: Vec<u32>,
}

impl Distribution {
    /// The distribution with those of the database's taxids that it lacks.
    pub fn with_missing(self, taxids: impl Iterator<Item = u32>) -> Distribution {
        let shares = self.rows.iter().flat_map(|row| &row.1);
        let genomes: BTreeSet<u32> = shares.map(|share| share.genome).collect();
        let missing: BTreeSet<u32> = taxids.filter(|taxid| !genomes.contains(taxid)).collect();
        Distribution { missing: missing.into_iter().collect(), ..self }
    }
}
