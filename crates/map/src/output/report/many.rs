//! A warning where reads have very many records.

use std::cell::Cell;

use merganser_run::{Progress, Warnings, thousands};

use crate::source::ReadBatch;

/// With more records of a read, or combinations of a pair, there is a warning.
const MAX_RECORDS: u64 = 1000;

/// Warns as soon as reads of an input have very many records: later, the output is large already.
pub(crate) struct ManyRecords<'r> {
    warnings: Warnings,
    progress: &'r dyn Progress,
    /// The number behind that of the last input that was warned of.
    inputs: Cell<usize>,
}

impl<'r> ManyRecords<'r> {
    pub(crate) fn new(warnings: &Warnings, progress: &'r dyn Progress) -> ManyRecords<'r> {
        ManyRecords { warnings: warnings.clone(), progress, inputs: Cell::new(0) }
    }

    /// Takes note of the number of records of a read of a batch, or of combinations of a pair.
    pub(super) fn note(&self, batch: &ReadBatch, read: usize, records: u64) {
        if records <= MAX_RECORDS || self.inputs.get() > batch.segment() {
            return;
        }
        self.inputs.set(batch.segment() + 1);
        self.warnings.push(format!(
            "{}: reads have more than {} records each, and the output can become very large: limit it with \
             `max_hits`, or report best hits alone",
            batch.file(read),
            thousands(MAX_RECORDS),
        ));
        self.progress.warned();
    }
}
