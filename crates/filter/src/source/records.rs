//! Pairs of two files of sequences: the first record of one file with the first record of the other, and so on.

use merganser_alignments::{ReaderOptions, RecordOptions};
use merganser_io::{Header, Input, Keep, ReadInput, RecordBatch, Records as Mates};

use crate::{Error, PairBatch, Sequence};

/// The number of bytes of a block per record; a block has at most that many records. This bounds the memory of
/// very short records, which take more than their letters.
const BYTES_A_RECORD: usize = 32;

/// A reader of two files side by side.
pub(crate) struct Records(Mates);

/// A block of pairs as letters.
#[derive(Default)]
pub(crate) struct RecordBlock {
    records: RecordBatch,
    /// The number of pairs that were taken.
    taken: usize,
}

impl Records {
    pub(crate) fn open(
        [reads, segments]: [&Input; 2],
        options: &ReaderOptions,
    ) -> Result<Records, Error> {
        let block = options.chunk_bytes;
        let options = RecordOptions {
            keep: Keep { header: Header::Nothing, qualities: false },
            batch_records: block / BYTES_A_RECORD,
            batch_bytes: block,
            chunk_bytes: block,
            workers: options.workers,
            max_record: options.max_record,
            // A read and its segment need not have matching names, and may come from one file.
            unrelated: true,
            // GPUs hold blocks while the next ones are read.
            overlapping: true,
            cancel: options.cancel.clone(),
            warnings: options.warnings.clone(),
            ..RecordOptions::default()
        };
        let pairs = ReadInput::Pair(reads.clone(), segments.clone());
        Ok(Records(Mates::open(&[pairs], options)?))
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.0.bytes_total()
    }

    pub(crate) fn skipped_alignments(&self) -> u64 {
        self.0.skipped_alignments()
    }

    pub(crate) fn stop(&self) {
        self.0.stop();
    }

    /// Fills a block: see [`Source::next`](merganser_run::engine::Source::next).
    pub(crate) fn next(&self, block: &mut RecordBlock) -> Result<Option<u64>, Error> {
        block.taken = 0;
        self.0.next(&mut block.records).map_err(|error| match error {
            merganser_io::Error::MateCount { shorter, records, longer } => {
                Error::Unpaired { shorter, records, longer }
            }
            other => other.into(),
        })
    }
}

impl RecordBlock {
    /// Returns the number of blocks before this one: see [`Block::number`](super::Block::number).
    pub(crate) fn number(&self) -> u64 {
        self.records.number()
    }

    /// Returns the index in the files of the next pair.
    pub(crate) fn index(&self) -> u64 {
        self.records.first() + self.taken as u64
    }

    /// Takes pairs: see [`Block::take`](super::Block::take).
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let left = self.records.reads() - self.taken;
        for _ in 0..left.min(most) {
            let first = 2 * self.taken;
            let (read, segment) = (self.add(first, batch)?, self.add(first + 1, batch)?);
            batch.pair(read, segment);
            self.taken += 1;
        }
        Ok(())
    }

    fn add(&self, at: usize, batch: &mut PairBatch<'_>) -> Result<Sequence, Error> {
        batch.add(self.records.record(at).letters).map_err(|error| {
            let (input, record) = self.records.place(at);
            Error::Record { input: input.to_owned(), record, problem: error.to_string() }
        })
    }
}
