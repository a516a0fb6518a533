//! The counts of a run that its report needs.

use std::collections::HashMap;
use std::sync::Arc;

use merganser_io::RecordBatch;
use merganser_run::run_workers;

use super::batch::{BlockSketches, Kraken2Batch, TaxonCounts};
use super::distinct::Sketch;
use super::joining::Joining;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::by_database::DatabaseReads;
use merganser_taxreport::report::Tally;

/// Bases of a block of single reads; the read that reaches this number is the last of its block.
const BLOCK_BASES: u64 = 3 << 20;
/// Pairs of a block.
const BLOCK_PAIRS: u64 = 10_000;

/// Cuts the input into the blocks that Kraken 2 reads at a time, on which its estimates of distinct
/// minimizers depend: single reads until there are 3 MiB of bases, or 10,000 pairs. Each file begins
/// a new block.
#[derive(Clone, Debug, Default)]
pub(super) struct InputBlocks {
    number: u64,
    filled: u64,
    /// The value of `filled` at which the block is full.
    full: u64,
}

/// The blocks that the reads of a batch belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockCuts {
    /// The number of the first read's block.
    pub(super) first: u64,
    /// The reads that begin a new block, in ascending order; each block's number is one more than the last.
    pub(super) cuts: Vec<usize>,
}

/// The facts about a batch that decide where blocks begin in it.
#[derive(Clone, Debug)]
pub(super) struct BatchSizes {
    pub(super) begins_file: bool,
    pub(super) paired: bool,
    pub(super) reads: usize,
    /// The bases of each single read; empty for pairs.
    bases: Vec<u64>,
}

impl BatchSizes {
    pub(super) fn of(batch: &RecordBatch) -> BatchSizes {
        let paired = batch.is_paired();
        let bases = |read: usize| batch.letter_count(read) as u64;
        let single = if paired { 0 } else { batch.reads() };
        BatchSizes {
            begins_file: !batch.is_empty() && batch.place(0).1 == 1,
            paired,
            reads: batch.reads(),
            bases: (0..single).map(bases).collect(),
        }
    }
}

impl InputBlocks {
    /// Returns the blocks of a batch. Batches must come in the order of the input, without gaps, from the
    /// beginning of a block on.
    pub(super) fn cut(&mut self, batch: &RecordBatch) -> BlockCuts {
        self.cut_sizes(&BatchSizes::of(batch))
    }

    /// Returns the blocks of a batch of this size.
    pub(super) fn cut_sizes(&mut self, sizes: &BatchSizes) -> BlockCuts {
        if sizes.begins_file {
            self.begin();
        }
        self.full = if sizes.paired { BLOCK_PAIRS } else { BLOCK_BASES };
        let (first, mut cuts) = (self.number, Vec::new());
        for read in 0..sizes.reads {
            if self.filled >= self.full {
                self.begin();
                cuts.push(read);
            }
            self.filled += if sizes.paired { 1 } else { sizes.bases[read] };
        }
        BlockCuts { first, cuts }
    }

    /// Whether the block would have continued if the file had more reads.
    pub(super) fn is_open(&self) -> bool {
        self.filled < self.full
    }

    fn begin(&mut self) {
        self.number += 1;
        self.filled = 0;
    }
}

/// The reads and minimizers of all taxa, from which the report is made.
#[derive(Debug, Default)]
pub struct Kraken2Counts {
    pub(super) reads: u64,
    pub(super) unclassified: u64,
    /// The bases of unclassified reads.
    pub(super) unclassified_bases: u64,
    pub(super) taxa: HashMap<u32, TaxonCounts>,
    pub(super) sketches: HashMap<u32, Sketch>,
    pub(super) by_database: DatabaseReads,
    /// Whether the last block of the input might have continued with more reads.
    pub(super) is_cut: bool,
    /// The block that may continue: its number, and the sketches of its pieces.
    open: (u64, Vec<BlockSketches>),
    /// Receives the sketches of finished blocks.
    pub(super) joining: Arc<Joining>,
}

impl Kraken2Counts {
    /// Returns empty counts, which count reads by database if `by_database` does.
    pub(super) fn counting(by_database: DatabaseReads) -> Kraken2Counts {
        Kraken2Counts { by_database, ..Kraken2Counts::default() }
    }

    /// Adds the results of a batch, whose reads have `bases`. If minimizers are counted, batches must come in the
    /// order of the input.
    pub(super) fn add(&mut self, batch: &mut Kraken2Batch, bases: u64) {
        self.reads += batch.calls.len() as u64;
        self.unclassified += batch.calls.iter().filter(|&&call| call == 0).count() as u64;
        self.unclassified_bases += bases;
        for (node, counts) in batch.taxa.drain(..) {
            let own = self.taxa.entry(node).or_default();
            own.reads += counts.reads;
            own.bases += counts.bases;
            own.minimizers += counts.minimizers;
            self.unclassified_bases -= counts.bases;
        }
        self.by_database.add(&mut batch.by_database);
        for (block, sketches) in batch.sketches.drain(..) {
            if block != self.open.0 {
                self.joining.put(std::mem::take(&mut self.open.1));
                self.open.0 = block;
            }
            self.open.1.push(sketches);
        }
    }

    /// Joins the sketches of all blocks after the last batch.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub(super) fn close(&mut self, threads: usize) -> Result<(), Error> {
        self.joining.put(std::mem::take(&mut self.open.1));
        run_workers(threads, |_| {
            while self.joining.join_one() {}
            Ok::<(), Error>(())
        })?;
        self.sketches = self.joining.take();
        Ok(())
    }

    /// Whether reads were counted by the databases that support their taxon.
    pub fn is_by_database(&self) -> bool {
        self.by_database.is_wanted()
    }

    /// Returns the number of reads; a pair is one read.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Returns the number of reads without a taxon.
    pub fn unclassified(&self) -> u64 {
        self.unclassified
    }

    /// Returns counts of bases in place of reads, and of no minimizers: reports of them have bases.
    pub fn in_bases(&self) -> Kraken2Counts {
        let of_bases = |(&node, counts): (&u32, &TaxonCounts)| {
            (node, TaxonCounts { reads: counts.bases, bases: counts.bases, minimizers: 0 })
        };
        let taxa: HashMap<u32, TaxonCounts> = self.taxa.iter().map(of_bases).collect();
        let unclassified = self.unclassified_bases;
        Kraken2Counts {
            reads: unclassified + taxa.values().map(|counts| counts.bases).sum::<u64>(),
            unclassified,
            unclassified_bases: unclassified,
            taxa,
            ..Kraken2Counts::default()
        }
    }

    /// Returns the reads by the nodes of `tree`, which has the same taxa.
    pub fn tally(&self, taxa: &Kraken2Taxonomy, tree: &Taxonomy) -> Tally {
        let mut tally = Tally::default();
        tally.count_many(None, self.unclassified);
        for node in taxa.root()..taxa.len() as u32 {
            let reads = self.own(node);
            if reads > 0 {
                tally.count_many(tree.node(taxa.taxid(node)), reads);
            }
        }
        tally
    }

    /// Returns the number of reads that are assigned to a node itself.
    pub fn own(&self, node: u32) -> u64 {
        self.taxa.get(&node).map_or(0, |counts| counts.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_io::Record;

    fn batch(paired: bool, lengths: &[usize]) -> RecordBatch {
        let mut batch = RecordBatch::of(paired, 0);
        for &length in lengths {
            let letters = vec![b'A'; length];
            batch.push(&Record { name: b"r", header: b"r", letters: &letters, quality: None });
        }
        batch
    }

    #[test]
    fn blocks_of_single_reads_end_with_the_read_that_fills_them() {
        let full = BLOCK_BASES as usize;
        let cuts = InputBlocks::default().cut(&batch(false, &[full - 1, 0, 1, 5, 0, full, 7]));
        assert_eq!(cuts, BlockCuts { first: 1, cuts: vec![3, 6] });
        let mut blocks = InputBlocks::default();
        assert_eq!(blocks.cut(&batch(false, &[full])), BlockCuts { first: 1, cuts: vec![] });
        assert!(!blocks.is_open());
        // The batch begins a file.
        assert_eq!(blocks.cut(&batch(false, &[full])), BlockCuts { first: 2, cuts: vec![] });
    }

    #[test]
    fn blocks_of_pairs_have_ten_thousand() {
        let cuts = InputBlocks::default().cut(&batch(true, &[1; 2 * 20_001]));
        assert_eq!(cuts, BlockCuts { first: 1, cuts: vec![10_000, 20_000] });
    }
}
