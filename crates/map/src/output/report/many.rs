//! A warning about reads with very many records.

use std::cell::Cell;

use merganser_run::{Progress, Warnings, thousands};

use crate::source::ReadBatch;

/// The maximum number of records of a read, or combinations of a pair, without a warning.
const MAX_RECORDS: u64 = 1000;

/// Warns as soon as a read of an input has very many records, before the output becomes large.
pub(crate) struct ManyRecords<'r> {
    warnings: Warnings,
    progress: &'r dyn Progress,
    /// The number of the last input with a warning, plus 1.
    inputs: Cell<usize>,
}

impl<'r> ManyRecords<'r> {
    pub(crate) fn new(warnings: &Warnings, progress: &'r dyn Progress) -> ManyRecords<'r> {
        ManyRecords { warnings: warnings.clone(), progress, inputs: Cell::new(0) }
    }

    /// Registers the number of records of a read of a batch, or of combinations of a pair.
    pub(super) fn note(&self, batch: &ReadBatch, read: usize, records: u64) {
        if records <= MAX_RECORDS || self.inputs.get() > batch.segment() {
            return;
        }
        self.inputs.set(batch.segment() + 1);
        self.warnings.push(format!(
            "{}: reads have more than {} records each, and the output can become very large: limit it with \
             `max_hits`, or report only best hits",
            batch.file(read),
            thousands(MAX_RECORDS),
        ));
        self.progress.warned();
    }
}
