//! What comes of a batch of reads.

use std::collections::HashMap;

use super::distinct::BlockSketch;

/// What came of a batch; it keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Kraken2Batch {
    pub(super) lines: Vec<u8>,
    pub(super) calls: Vec<u32>,
    /// Taxa that have any.
    pub(super) taxa: Vec<(u32, TaxonCounts)>,
    /// By block, in order.
    pub(super) sketches: Vec<(u64, BlockSketches)>,
}

impl Kraken2Batch {
    /// The lines of all reads.
    pub(super) fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The node of each read; 0 of those without.
    pub(super) fn calls(&self) -> &[u32] {
        &self.calls
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.calls.clear();
        self.taxa.clear();
        self.sketches.clear();
    }
}

/// What is counted of a taxon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaxonCounts {
    /// Reads that are of the taxon itself,
    pub(super) reads: u64,
    /// and minimizers that were found and have it.
    pub(super) minimizers: u64,
}

/// Sketches of taxa, of a block or of a piece of one.
pub(super) type BlockSketches = HashMap<u32, BlockSketch>;
