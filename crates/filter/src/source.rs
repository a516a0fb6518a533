//! Where pairs come from: blocks of text or of records, numbered in their order, read and parsed by
//! any number of workers.

mod lines;
mod records;

use merganser_alignments::ReaderOptions;
use merganser_io::Input;

use merganser_run::ConfigError;

use crate::{Error, PairBatch};
use lines::{LineBlock, Lines};
use records::{RecordBlock, Records};

/// One file of pairs, or two of sequences.
pub(crate) enum PairSource {
    Lines(Box<Lines>),
    Records(Box<Records>),
}

/// Some pairs, as they are in the input. Refilled, it keeps its memory.
#[derive(Default)]
pub(crate) struct Block {
    lines: LineBlock,
    records: RecordBlock,
    /// Which of them it is.
    paired: bool,
}

impl PairSource {
    /// Looks at the inputs, of which there are one or two. Nothing is read yet.
    ///
    /// # Errors
    /// If one cannot be opened, or there are not one or two.
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

    /// The inputs' size on disk, if they are regular files.
    pub(crate) fn bytes_total(&self) -> Option<u64> {
        match self {
            PairSource::Lines(lines) => lines.bytes_total(),
            PairSource::Records(records) => records.bytes_total(),
        }
    }

    /// Alignments that were passed over so far: each read stands in another one.
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
    /// How many blocks come before this one in the input.
    pub(crate) fn number(&self) -> u64 {
        if self.paired { self.records.number() } else { self.lines.number() }
    }

    /// The index in the input of the next pair to take.
    pub(crate) fn index(&self) -> u64 {
        if self.paired { self.records.index() } else { self.lines.index() }
    }

    /// Packs up to `most` of the pairs that were not taken yet into `batch`, which is emptied
    /// before; `false` if there was none.
    ///
    /// # Errors
    /// What is wrong with a pair, with its place.
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
