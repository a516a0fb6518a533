//! Batches whose searches wait for the ranges of a table that is larger than memory.

use merganser_io::RecordBatch;

use super::counts::BlockCuts;
use super::database::Kraken2Database;
use super::minimizers::{Entries, EntryRun};
use super::table::{Ranges, Table, WaitingSearch, WaitingSearches};
use super::tables::Tables;
use merganser_taxreport::by_database::DatabaseSet;

/// A batch whose searches wait.
#[derive(Debug)]
pub(super) struct WaitingBatch {
    pub(super) batch: RecordBatch,
    pub(super) cuts: BlockCuts,
    pub(super) pieces: Vec<WaitingEntries>,
}

/// A piece of the entries of the batch's reads; each piece continues the previous one.
#[derive(Debug)]
pub(super) struct WaitingEntries {
    runs: Vec<EntryRun>,
    /// The searches in each table.
    searches: Vec<WaitingSearches>,
}

impl WaitingBatch {
    /// Copies the records of a batch to exactly as much memory as they need.
    pub(super) fn new(
        batch: &RecordBatch,
        cuts: BlockCuts,
        pieces: Vec<WaitingEntries>,
    ) -> WaitingBatch {
        let mut records = RecordBatch::default();
        records.copy_from(batch);
        WaitingBatch { batch: records, cuts, pieces }
    }

    /// Returns the memory of the batch in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let pieces = self.pieces.iter().map(WaitingEntries::bytes).sum::<usize>();
        (size_of::<WaitingBatch>() + self.batch.bytes() + pieces) as u64
    }

    /// Returns the number of searches in a table.
    pub(super) fn searches(&self, table: usize) -> u64 {
        self.pieces.iter().map(|piece| piece.searches[table].len() as u64).sum()
    }

    /// Takes the searches that begin in a range of a table, to be performed. The ranges must be processed in order.
    pub(super) fn take_searches<'w>(
        &'w mut self,
        (number, table): (usize, &Table),
        ranges: &Ranges,
        range: usize,
    ) -> impl Iterator<Item = &'w mut [WaitingSearch]> {
        let pieces = self.pieces.iter_mut();
        pieces.map(move |piece| table.take_searches(ranges, range, &mut piece.searches[number]))
    }
}

impl WaitingEntries {
    /// Collects the searches for the minimizers of some entries.
    pub(super) fn new(entries: &Entries, tables: &Tables) -> WaitingEntries {
        WaitingEntries {
            runs: entries.runs.as_slice().to_vec(),
            searches: tables.wait(&entries.minimizers),
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.runs[..])
            + self.searches.iter().map(WaitingSearches::bytes).sum::<usize>()
    }

    /// Returns the entries and the nodes of their minimizers; minimizers without a node are 0. `sources` gets the tables
    /// that have each minimizer.
    pub(super) fn found(
        self,
        database: &Kraken2Database,
        entries: &mut Entries,
        nodes: &mut Vec<u32>,
        sources: Option<&mut Vec<DatabaseSet>>,
    ) {
        let tree = database.taxonomy();
        if let (Some(sources), Some(first)) = (sources, self.searches.first()) {
            database.tables.found_sources(&self.searches, first.minimizers(), sources);
        }
        database.tables.found(&self.searches, tree, (nodes, &mut entries.minimizers));
        entries.runs = self.runs;
    }
}
