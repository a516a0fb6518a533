//! The results of one batch of reads.

use std::collections::HashMap;

use super::distinct::BlockSketch;
use merganser_taxreport::by_database::ReadsBySet;
use merganser_taxreport::output::Lines;

/// The results of one batch of reads; reused for later batches to keep its memory.
#[derive(Debug, Default)]
pub(super) struct Kraken2Batch {
    pub(super) lines: Lines,
    /// The lines of the reads' segments.
    pub(super) segments: Lines,
    pub(super) calls: Vec<u32>,
    /// The counts of each taxon with reads or minimizers in the batch.
    pub(super) taxa: Vec<(u32, TaxonCounts)>,
    /// The sketches of each block, by block number, in ascending order.
    pub(super) sketches: Vec<(u64, BlockSketches)>,
    /// The classified reads by the databases that support their taxon, if they are counted.
    pub(super) by_database: ReadsBySet,
}

impl Kraken2Batch {
    /// Returns the output lines of all reads.
    pub(super) fn lines(&self) -> &[u8] {
        self.lines.text()
    }

    /// Returns the node of each read; 0 for unclassified reads.
    pub(super) fn calls(&self) -> &[u32] {
        &self.calls
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.segments.clear();
        self.calls.clear();
        self.taxa.clear();
        self.sketches.clear();
        self.by_database.clear();
    }
}

/// The counts of one taxon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaxonCounts {
    /// Reads that are assigned to the taxon itself, not to its descendants.
    pub(super) reads: u64,
    /// The bases of these reads: the letters of both mates.
    pub(super) bases: u64,
    /// Minimizers of reads that were found in the table with this taxon.
    pub(super) minimizers: u64,
}

/// The sketches of taxa in a block or in a piece of one.
pub(super) type BlockSketches = HashMap<u32, BlockSketch>;
