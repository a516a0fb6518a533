//! Batches whose searches wait for the ranges of a table that is larger than memory.

use merganser_io::RecordBatch;

use super::counts::BlockCuts;
use super::minimizers::{Entries, EntryRun};
use super::table::{Ranges, Table, WaitingSearches};
use crate::Error;

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
    searches: WaitingSearches,
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

    /// Returns the number of searches.
    pub(super) fn searches(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.searches.len() as u64).sum()
    }

    /// Performs the searches that begin in a range of the table. The ranges must be processed in order.
    ///
    /// # Errors
    /// If the database turns out to be damaged.
    pub(super) fn look_up_range(
        &mut self,
        table: &Table,
        ranges: &Ranges,
        range: usize,
    ) -> Result<(), Error> {
        let mut pieces = self.pieces.iter_mut();
        pieces.try_for_each(|piece| table.look_up_range(ranges, range, &mut piece.searches))
    }
}

impl WaitingEntries {
    /// Collects the searches for the minimizers of some entries.
    pub(super) fn new(entries: &Entries, table: &Table) -> WaitingEntries {
        WaitingEntries {
            runs: entries.runs.as_slice().to_vec(),
            searches: table.wait(&entries.minimizers),
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + self.searches.bytes()
    }

    /// Returns the entries and the nodes of their minimizers; minimizers without a node are 0.
    pub(super) fn found(self, entries: &mut Entries, nodes: &mut Vec<u32>) {
        self.searches.found(nodes, &mut entries.minimizers);
        entries.runs = self.runs;
    }
}
