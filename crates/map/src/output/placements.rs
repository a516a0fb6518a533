//! Statistics about the places of reads, from which reports draw charts.

use std::collections::BTreeMap;

/// Numbers of reads by hits, edits and contigs, and of pairs by insert size; see [`Config::placements`].
///
/// [`Config::placements`]: crate::Config::placements
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placements {
    /// The number of reads by their number of records with a place; both mates of a pair count.
    pub hits: BTreeMap<u32, u64>,
    /// The number of reads by the edits of their first record.
    pub edits: BTreeMap<u32, u64>,
    /// The number of concordant pairs by the length in bases that their first combination spans.
    pub inserts: BTreeMap<u64, u64>,
    /// The number of reads whose first record is on each contig, and the number of their bases.
    pub contigs: Vec<(u64, u64)>,
}

impl Placements {
    pub(crate) fn of_contigs(contigs: usize) -> Placements {
        Placements { contigs: vec![(0, 0); contigs], ..Placements::default() }
    }

    /// Counts a read without a place.
    pub(crate) fn unplaced(&mut self) {
        *self.hits.entry(0).or_default() += 1;
    }

    /// Counts a read with `hits` records, the first of which has these edits and is on this contig.
    pub(crate) fn placed(&mut self, hits: u32, edits: u32, contig: u32, bases: usize) {
        *self.hits.entry(hits).or_default() += 1;
        *self.edits.entry(edits).or_default() += 1;
        let (reads, sum) = &mut self.contigs[contig as usize];
        *reads += 1;
        *sum += bases as u64;
    }

    /// Counts a concordant pair that spans this many bases.
    pub(crate) fn insert(&mut self, bases: u64) {
        *self.inserts.entry(bases).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Placements) {
        let sums = [(&mut self.hits, other.hits), (&mut self.edits, other.edits)];
        for (sum, more) in sums {
            more.into_iter().for_each(|(value, reads)| *sum.entry(value).or_default() += reads);
        }
        for (bases, pairs) in other.inserts {
            *self.inserts.entry(bases).or_default() += pairs;
        }
        for ((reads, bases), more) in self.contigs.iter_mut().zip(other.contigs) {
            *reads += more.0;
            *bases += more.1;
        }
    }
}
