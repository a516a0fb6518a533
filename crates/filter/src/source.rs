//! Source of pairs: numbered blocks of text or of records, which any number of workers read and parse.

mod lines;
mod records;

use merganser_alignments::ReaderOptions;
use merganser_io::Input;

use merganser_run::ConfigError;

use crate::{Error, PairBatch};
use lines::{LineBlock, Lines};
use records::{RecordBlock, Records};

/// One file of pairs, or two files of sequences.
pub(crate) enum PairSource {
    Lines(Box<Lines>),
    Records(Box<Records>),
}

/// A block of pairs as they are in the input. Refilling it reuses its memory.
#[derive(Default)]
pub(crate) struct Block {
    lines: LineBlock,
    records: RecordBlock,
    /// Whether the block has records of two files, not lines.
    paired: bool,
}

impl PairSource {
    /// Opens the inputs, of which there must be one or two. Nothing is read yet.
    ///
    /// # Errors
    /// If an input cannot be opened, or the number of inputs is not one or two.
    pub(crate) fn open(inputs: &[Input], options: &ReaderOptions) -> Result<PairSource, Error> {
        match inputs {
            [pairs] => Ok(PairSource::Lines(Box::new(Lines::open(pairs, options)?))),
            [reads, segments] => {
                Ok(PairSource::Records(Box::new(Records::open([reads, segments], options)?)))
            }
            _ => Err(Error::Config(ConfigError::new(
                "one file of pairs is needed, or two of reads and their segments",
            ))),
        }
    }

    /// Returns the size of the inputs on disk, if they are regular files.
    pub(crate) fn bytes_total(&self) -> Option<u64> {
        match self {
            PairSource::Lines(lines) => lines.bytes_total(),
            PairSource::Records(records) => records.bytes_total(),
        }
    }

    /// Returns the number of alignments skipped so far; other records hold their reads.
    pub(crate) fn skipped_alignments(&self) -> u64 {
        match self {
            PairSource::Lines(_) => 0,
            PairSource::Records(records) => records.skipped_alignments(),
        }
    }
}

impl merganser_run::engine::Source for PairSource {
    type Batch = Block;
    type Error = Error;

    fn next(&self, block: &mut Block) -> Result<Option<u64>, Error> {
        block.paired = matches!(self, PairSource::Records(_));
        match self {
            PairSource::Lines(lines) => lines.next(&mut block.lines),
            PairSource::Records(records) => records.next(&mut block.records),
        }
    }

    fn number(block: &Block) -> u64 {
        block.number()
    }

    fn stop(&self, _number: u64) {
        match self {
            PairSource::Lines(lines) => lines.stop(),
            PairSource::Records(records) => records.stop(),
        }
    }
}

impl Block {
    /// Returns the number of blocks before this one.
    pub(crate) fn number(&self) -> u64 {
        if self.paired { self.records.number() } else { self.lines.number() }
    }

    /// Returns the index in the input of the next pair to take.
    pub(crate) fn index(&self) -> u64 {
        if self.paired { self.records.index() } else { self.lines.index() }
    }

    /// Replaces `batch` by up to `most` pairs that were not taken yet; returns false if none were left.
    ///
    /// # Errors
    /// If a pair is invalid; the error names its line or record.
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<bool, Error> {
        batch.clear();
        if self.paired {
            self.records.take(most, batch)?;
        } else {
            self.lines.take(most, batch)?;
        }
        Ok(!batch.is_empty())
    }
}
