//! Pairs of two files of FASTA or FASTQ: the first record of one with the first of the other, and
//! so on.
//!
//! Any number of workers fetch and parse chunks of both files; in the order of each file, these
//! are queued, and blocks are cut from the heads of both queues. Where a FASTA sequence is cut
//! between chunks, its beginning waits for its end.

mod side;

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use merganser_io::{Chunk, Input, Reader, ReaderOptions};

use crate::job::lock;
use crate::{Error, PairBatch};
use side::{Letters, Parsed, Side};

/// Two files that are read side by side.
pub(crate) struct Records {
    files: [RecordFile; 2],
    zip: Mutex<Zip>,
    changed: Condvar,
}

struct RecordFile {
    reader: Reader,
    name: Arc<str>,
}

/// Where records meet.
struct Zip {
    sides: [Side; 2],
    /// Records handed out so far, of each file,
    taken: u64,
    /// in so many blocks.
    blocks: u64,
    ended: bool,
    /// Chunks of each that may wait or be underway.
    most: usize,
}

/// Pairs as letters.
#[derive(Default)]
pub(crate) struct RecordBlock {
    sides: [Arc<Letters>; 2],
    /// The next record of each.
    at: [usize; 2],
    /// Pairs not taken yet.
    left: usize,
    /// The index of the next pair.
    index: u64,
    number: u64,
    names: [Arc<str>; 2],
    chunk: Chunk,
}

impl Records {
    pub(crate) fn open(inputs: [&Input; 2], options: &ReaderOptions) -> Result<Records, Error> {
        let open = |input: &Input| -> Result<RecordFile, Error> {
            let options = ReaderOptions { workers: 1, overlap: 0, ..options.clone() };
            let reader = Reader::open(std::slice::from_ref(input), options)?;
            Ok(RecordFile { reader, name: Arc::from(input.to_string()) })
        };
        // One for each worker, and one that waits for it.
        let most = 2 * options.workers + 2;
        let zip = Zip { sides: Default::default(), taken: 0, blocks: 0, ended: false, most };
        Ok(Records {
            files: [open(inputs[0])?, open(inputs[1])?],
            zip: Mutex::new(zip),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        let [reads, segments] = &self.files;
        Some(reads.reader.bytes_total()? + segments.reader.bytes_total()?)
    }

    pub(crate) fn stop(&self) {
        lock(&self.zip).ended = true;
        self.files.iter().for_each(|file| file.reader.stop());
        self.changed.notify_all();
    }

    /// As [`Source::next`](super::Source::next).
    pub(crate) fn next(&self, block: &mut RecordBlock) -> Result<Option<u64>, Error> {
        let mut source_bytes = 0;
        let mut zip = lock(&self.zip);
        while !zip.ended {
            block.number = zip.blocks;
            if zip.cut(block, &self.files).inspect_err(|_| self.end(&mut zip))? {
                return Ok(Some(source_bytes));
            }
            if zip.sides.iter().all(Side::is_over) {
                self.end(&mut zip);
                break;
            }
            let Some(side) = zip.hungry() else {
                zip = self.changed.wait(zip).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            zip.sides[side].begin();
            drop(zip);
            let parsed = self.files[side].parse(&mut block.chunk);
            source_bytes += block.chunk.source_bytes();
            zip = lock(&self.zip);
            zip.sides[side].deliver(parsed);
            self.changed.notify_all();
        }
        Ok(None)
    }

    fn end(&self, zip: &mut Zip) {
        zip.ended = true;
        self.changed.notify_all();
    }
}

impl RecordFile {
    /// Fetches and parses a chunk, while others do the same.
    fn parse(&self, chunk: &mut Chunk) -> Parsed {
        let mut letters = Letters::default();
        match self.reader.next_chunk(chunk) {
            Ok(true) => {
                let fault = chunk.parse(&mut letters).err();
                Parsed::Chunk { ordinal: chunk.ordinal(), letters, fault }
            }
            Ok(false) => Parsed::End(None),
            Err(error) => Parsed::End(Some(error)),
        }
    }
}

impl Zip {
    /// Fills `block` from the heads of both queues; `false` if one has none yet, or both have ended.
    fn cut(&mut self, block: &mut RecordBlock, files: &[RecordFile; 2]) -> Result<bool, Error> {
        let [reads, segments] = &mut self.sides;
        if let (Some((read, first)), Some((segment, second))) = (reads.head(), segments.head()) {
            let count = (read.len() - first).min(segment.len() - second);
            block.sides = [Arc::clone(read), Arc::clone(segment)];
            (block.at, block.left, block.index) = ([first, second], count, self.taken);
            block.names = [0, 1].map(|side| Arc::clone(&files[side].name));
            self.sides.iter_mut().for_each(|side| side.take(count));
            self.taken += count as u64;
            self.blocks += 1;
            return Ok(true);
        }
        for side in [0, 1] {
            let (this, other) = (&mut self.sides[side], 1 - side);
            if this.head().is_some() {
                continue;
            }
            if !this.is_over() {
                return Ok(false);
            }
            if let Some(fault) = this.fault() {
                return Err(files[side].reader.earliest_error(fault).into());
            }
            if self.sides[other].head().is_some() {
                let [shorter, longer] = [side, other].map(|side| files[side].name.to_string());
                return Err(Error::Unpaired { shorter, records: self.taken, longer });
            }
        }
        Ok(false)
    }

    /// The side to fetch from: that with fewer records, if it may have more.
    fn hungry(&self) -> Option<usize> {
        let wants = |side: &usize| self.sides[*side].wants(self.most);
        [0, 1].into_iter().filter(wants).min_by_key(|&side| self.sides[side].expected())
    }
}

impl RecordBlock {
    /// As [`Block::number`](super::Block::number).
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The index in the files of the next pair.
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// As [`Block::take`](super::Block::take).
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        for _ in 0..self.left.min(most) {
            let mut add = |side: usize| {
                batch.add(self.sides[side].get(self.at[side])).map_err(|error| Error::Record {
                    input: self.names[side].to_string(),
                    record: self.index + 1,
                    problem: error.to_string(),
                })
            };
            let (read, segment) = (add(0)?, add(1)?);
            batch.pair(read, segment);
            self.at = self.at.map(|at| at + 1);
            self.index += 1;
            self.left -= 1;
        }
        Ok(())
    }
}
