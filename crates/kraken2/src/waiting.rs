//! Batches of reads that wait for the ranges of a table that is larger than memory.

use merganser_io::RecordBatch;

use super::counts::BlockCuts;
use super::minimizers::{Entries, EntryRun};
use super::table::{Ranges, Table, WaitingSearches};
use crate::Error;

/// A batch that waits.
#[derive(Debug)]
pub(super) struct WaitingBatch {
    pub(super) batch: RecordBatch,
    pub(super) cuts: BlockCuts,
    pub(super) pieces: Vec<WaitingEntries>,
}

/// Some entries of its reads, of which each goes on where the one before ends.
#[derive(Debug)]
pub(super) struct WaitingEntries {
    runs: Vec<EntryRun>,
    searches: WaitingSearches,
}

impl WaitingBatch {
    /// Keeps the records of a batch in no more memory than they need.
    pub(super) fn new(
        batch: &RecordBatch,
        cuts: BlockCuts,
        pieces: Vec<WaitingEntries>,
    ) -> WaitingBatch {
        let mut records = RecordBatch::default();
        records.copy_from(batch);
        WaitingBatch { batch: records, cuts, pieces }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let pieces = self.pieces.iter().map(WaitingEntries::bytes).sum::<usize>();
        (size_of::<WaitingBatch>() + self.batch.bytes() + pieces) as u64
    }

    /// Searches that wait.
    pub(super) fn searches(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.searches.len() as u64).sum()
    }

    /// Makes the searches that begin in a range of the table, after those of the ranges before it.
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
    /// Has the searches for the minimizers wait.
    pub(super) fn new(entries: &Entries, table: &Table) -> WaitingEntries {
        WaitingEntries {
            runs: entries.runs.as_slice().to_vec(),
            searches: table.wait(&entries.minimizers),
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + self.searches.bytes()
    }

    /// The entries, and the nodes of their minimizers; a minimizer without one is 0.
    pub(super) fn found(self, entries: &mut Entries, nodes: &mut Vec<u32>) {
        self.searches.found(nodes, &mut entries.minimizers);
        entries.runs = self.runs;
    }
}
