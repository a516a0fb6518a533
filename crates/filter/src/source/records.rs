//! Pairs of two files of FASTA or FASTQ: the first record of one with the first of the other, and
//! so on.

use std::sync::Arc;

use merganser_io::{Chunk, Input, Reader, ReaderOptions, Sink};

use crate::{Error, PairBatch};

/// Two files that are read side by side.
pub(crate) struct Records {
    files: [RecordFile; 2],
    /// Records handed out so far.
    taken: u64,
}

/// Pairs as letters.
#[derive(Default)]
pub(crate) struct RecordBlock {
    sides: [Letters; 2],
    at: usize,
    /// Records of the files before those of this block.
    first: u64,
    names: [Arc<str>; 2],
}

/// Sequences one after the other.
#[derive(Default)]
struct Letters {
    letters: Vec<u8>,
    /// Where each begins. The last one may not be complete.
    starts: Vec<usize>,
}

struct RecordFile {
    reader: Reader,
    chunk: Chunk,
    name: Arc<str>,
    read: Letters,
    done: bool,
}

impl Records {
    pub(crate) fn open(inputs: [&Input; 2], options: &ReaderOptions) -> Result<Records, Error> {
        let open = |input: &Input| -> Result<RecordFile, Error> {
            let options = ReaderOptions { workers: 1, overlap: 0, ..options.clone() };
            Ok(RecordFile {
                reader: Reader::open(std::slice::from_ref(input), options)?,
                chunk: Chunk::default(),
                name: Arc::from(input.to_string()),
                read: Letters::default(),
                done: false,
            })
        };
        Ok(Records { files: [open(inputs[0])?, open(inputs[1])?], taken: 0 })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        let [reads, segments] = &self.files;
        Some(reads.reader.bytes_total()? + segments.reader.bytes_total()?)
    }

    /// As [`Source::next`](super::Source::next).
    pub(crate) fn next(&mut self, block: &mut RecordBlock) -> Result<Option<u64>, Error> {
        let before = self.bytes_read();
        let [reads, segments] = &mut self.files;
        let count = loop {
            let count = reads.complete().min(segments.complete());
            if count > 0 {
                break count;
            }
            if reads.complete() == 0 && !reads.done {
                reads.more()?;
            } else if segments.complete() == 0 && !segments.done {
                segments.more()?;
            } else {
                return self.end();
            }
        };
        for (side, file) in block.sides.iter_mut().zip(&mut self.files) {
            file.read.split_into(count, side);
        }
        (block.at, block.first) = (0, self.taken);
        block.names = [0, 1].map(|side| Arc::clone(&self.files[side].name));
        self.taken += count as u64;
        Ok(Some(self.bytes_read() - before))
    }

    fn bytes_read(&self) -> u64 {
        self.files.iter().map(|file| file.reader.bytes_read()).sum()
    }

    /// Both files should have ended.
    fn end(&self) -> Result<Option<u64>, Error> {
        let [reads, segments] = &self.files;
        let (shorter, longer) = match (reads.complete(), segments.complete()) {
            (0, 0) => return Ok(None),
            (0, _) => (reads, segments),
            _ => (segments, reads),
        };
        let (shorter, longer) = (shorter.name.to_string(), longer.name.to_string());
        Err(Error::Unpaired { shorter, records: self.taken, longer })
    }
}

impl RecordFile {
    /// Records of which nothing is to come.
    fn complete(&self) -> usize {
        self.read.starts.len() - usize::from(!self.done && !self.read.starts.is_empty())
    }

    fn more(&mut self) -> Result<(), Error> {
        let parsed = match self.reader.next_chunk(&mut self.chunk) {
            Ok(true) => self.chunk.parse(&mut self.read).map(drop),
            Ok(false) => {
                self.done = true;
                Ok(())
            }
            Err(error) => Err(error),
        };
        Ok(parsed.map_err(|error| self.reader.earliest_error(error))?)
    }
}

impl Letters {
    fn clear(&mut self) {
        self.letters.clear();
        self.starts.clear();
    }

    /// Moves the first `count` sequences to `other`, in place of what it had.
    fn split_into(&mut self, count: usize, other: &mut Letters) {
        other.clear();
        std::mem::swap(self, other);
        if let Some(&start) = other.starts.get(count) {
            self.letters.extend_from_slice(&other.letters[start..]);
            self.starts.extend(other.starts[count..].iter().map(|at| at - start));
            other.letters.truncate(start);
            other.starts.truncate(count);
        }
    }

    fn get(&self, index: usize) -> &[u8] {
        let end = self.starts.get(index + 1).copied().unwrap_or(self.letters.len());
        &self.letters[self.starts[index]..end]
    }
}

impl Sink for Letters {
    fn begin(&mut self, _header: &[u8]) {
        self.starts.push(self.letters.len());
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        self.letters.extend_from_slice(line);
    }

    fn end(&mut self) {}
}

impl RecordBlock {
    /// The index in the files of the next pair.
    pub(crate) fn index(&self) -> u64 {
        self.first + self.at as u64
    }

    /// As [`Block::take`](super::Block::take).
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let end = self.sides[0].starts.len().min(self.at + most);
        for index in self.at..end {
            let mut add = |side: usize| {
                batch.add(self.sides[side].get(index)).map_err(|error| Error::Record {
                    input: self.names[side].to_string(),
                    record: self.first + index as u64 + 1,
                    problem: error.to_string(),
                })
            };
            let (read, segment) = (add(0)?, add(1)?);
            batch.pair(read, segment);
        }
        self.at = end;
        Ok(())
    }
}
