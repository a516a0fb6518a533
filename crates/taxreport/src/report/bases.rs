//! Bases of reads by taxon.

use super::Tally;

/// The bases of reads by taxon: the letters of each read, of both mates of a pair. The tallies have bases where those of
/// a run have reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonBases {
    /// The bases by the taxon, and by the target, that reads are assigned to.
    pub tally: Tally,
    /// The bases by the taxa of genomes, for Kraken's report.
    pub by_genome: Tally,
}

impl TaxonBases {
    /// Adds other bases.
    pub fn add(&mut self, other: TaxonBases) {
        self.tally.add(other.tally);
        self.by_genome.add(other.by_genome);
    }
}
