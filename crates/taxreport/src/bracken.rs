//! Bracken: estimates of the reads of each species from the reads of each taxon (Lu, Breitwieser, Thielen and
//! Salzberg, 2017).
//!
//! A [`Distribution`] states to which taxa a database assigns the reads of each genome of a library: each stretch
//! of N letters of each sequence is classified as a read without errors. It is Bracken's file
//! `databaseNmers.kmer_distrib`. With a distribution, an [`Estimate`] distributes the reads of a report that are
//! assigned only to a genus or a higher taxon to species.

mod estimate;
mod file;

use std::collections::BTreeSet;

pub use estimate::{Estimate, EstimateNotes, EstimateRow, EstimatedNumber, Level};

/// The reads of a genome that were assigned to some taxon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The taxid of the genome.
    pub genome: u32,
    /// The number of the genome's reads that were assigned to the taxon.
    pub reads: u64,
    /// The number of all reads of the genome, including unclassified ones.
    pub total: u64,
}

/// A distribution: for each taxon that reads of the library were assigned to (0 for unclassified reads), the
/// genomes of these reads. A new distribution has taxa and genomes in the order in which the library first
/// has them; taxa that first occur in the same sequence are ordered by taxid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// The taxids that reads were assigned to, each with the genomes of the reads.
    pub rows: Vec<(u32, Vec<Share>)>,
    /// The names of sequences without a taxid, which are left out.
    pub unmapped: Vec<String>,
    /// The taxids of the database, sorted, whose genomes have no reads in the library; for a Kraken 2 database,
    /// those of its lowest taxa. No reads can be distributed to them.
    pub missing: Vec<u32>,
}

impl Distribution {
    /// Sets `missing` to those of the database's taxids that have no genome in the distribution.
    pub fn with_missing(self, taxids: impl Iterator<Item = u32>) -> Distribution {
        let shares = self.rows.iter().flat_map(|row| &row.1);
        let genomes: BTreeSet<u32> = shares.map(|share| share.genome).collect();
        let missing: BTreeSet<u32> = taxids.filter(|taxid| !genomes.contains(taxid)).collect();
        Distribution { missing: missing.into_iter().collect(), ..self }
    }
}
