//! Reads and pairs in their order, a batch at a time.
//!
//! A batch is full with a fixed number of reads or bases, whatever threads and memory there are, so
//! that compressed output is cut at the same places.

use merganser_io::{Chunk, Input, Reader, ReaderOptions, Sink};
use merganser_run::Cancel;

use crate::{Error, MOST_READ};

/// Reads of a file, or of two files the first of which has the first mates of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Reads, or first mates.
    pub first: Input,
    /// Second mates.
    pub second: Option<Input>,
}

/// A batch is full with so many reads or bases.
const BATCH_READS: usize = 2048;
const BATCH_BASES: usize = 1 << 20;
/// The longest name that BAM can hold.
const MOST_NAME: usize = 254;

/// Reads with names and qualities, one after the other; of pairs the mates in turn.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: Vec<u8>,
    /// Where the name, the letters and the qualities of each read end.
    ends: Vec<[usize; 3]>,
    pub(crate) paired: bool,
    /// Records of the file before the batch's.
    first: u64,
    names: [String; 2],
}

/// A read: name, letters, qualities (empty if there are none).
pub(crate) type ReadParts<'a> = [&'a [u8]; 3];

impl Batch {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Reads; mates count one each.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reads of a unit that is reported together: a read or the two of a pair.
    pub(crate) fn unit(&self) -> usize {
        1 + usize::from(self.paired)
    }

    pub(crate) fn get(&self, at: usize) -> ReadParts<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1][2] };
        let [name, letters, qualities] = self.ends[at];
        [&self.text[start..name], &self.text[name..letters], &self.text[letters..qualities]]
    }

    /// The name of a read as it is reported: mates share theirs.
    pub(crate) fn name(&self, at: usize) -> &[u8] {
        let [name, ..] = self.get(at);
        if self.paired { stem(name) } else { name }
    }

    /// What is wrong with a read, with its place.
    pub(crate) fn error(&self, at: usize, problem: impl std::fmt::Display) -> Error {
        let unit = self.unit();
        let record = self.first + (at / unit) as u64 + 1;
        Error::Input(format!("{}: record {record}: {problem}", self.names[at % unit]))
    }
}

/// A name without the `/1` or `/2` of a mate.
fn stem(name: &[u8]) -> &[u8] {
    name.strip_suffix(b"/1").or_else(|| name.strip_suffix(b"/2")).unwrap_or(name)
}

/// The records of one file, in order.
struct Records {
    reader: Reader,
    chunk: Chunk,
    held: Held,
    /// Records handed out of those that are held, and of all.
    taken: usize,
    number: u64,
    bytes: u64,
    name: String,
}

/// Records as a chunk gives them.
#[derive(Default)]
struct Held {
    batch: Batch,
    /// Nothing is to come.
    done: bool,
}

impl Sink for Held {
    fn begin(&mut self, header: &[u8]) {
        let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        self.batch.text.extend_from_slice(&header[..end]);
        let at = self.batch.text.len();
        self.batch.ends.push([at, at, at]);
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        let Held { batch: Batch { text, ends, .. }, .. } = self;
        text.extend_from_slice(line);
        let Some(last) = ends.last_mut() else { return };
        last[1] = text.len();
        if let Some(quality) = quality {
            text.extend_from_slice(quality);
        }
        last[2] = text.len();
    }

    fn end(&mut self) {}
}

impl Records {
    fn open(input: &Input, cancel: &Cancel) -> Result<Records, Error> {
        let options = ReaderOptions {
            chunk_bytes: 1 << 20,
            cancel: cancel.clone(),
            ..ReaderOptions::default()
        };
        Ok(Records {
            reader: Reader::open(std::slice::from_ref(input), options)?,
            chunk: Chunk::default(),
            held: Held::default(),
            taken: 0,
            number: 0,
            bytes: 0,
            name: input.to_string(),
        })
    }

    /// Sees to it that a whole record is held, if there is one.
    fn has_next(&mut self) -> Result<bool, Error> {
        // The last record held may go on as long as the file does.
        while !self.held.done && self.taken + 1 >= self.held.batch.ends.len() {
            self.forget_taken();
            let more = self.reader.next_chunk(&mut self.chunk);
            let parsed = match more {
                Ok(false) => {
                    self.held.done = true;
                    break;
                }
                Ok(true) => self.chunk.parse(&mut self.held).map(drop),
                Err(error) => Err(error),
            };
            parsed.map_err(|error| self.reader.earliest_error(error))?;
            self.bytes += self.chunk.source_bytes();
        }
        Ok(self.taken < self.held.batch.ends.len())
    }

    fn forget_taken(&mut self) {
        let batch = &mut self.held.batch;
        let Some(last) = self.taken.checked_sub(1).map(|at| batch.ends[at][2]) else { return };
        batch.text.drain(..last);
        batch.ends.drain(..self.taken);
        batch.ends.iter_mut().flatten().for_each(|end| *end -= last);
        self.taken = 0;
    }

    /// Moves the next record, which must be there, to `batch`.
    fn take(&mut self, batch: &mut Batch) -> Result<usize, Error> {
        let [name, letters, qualities] = self.held.batch.get(self.taken);
        self.number += 1;
        let problem = if letters.len() > MOST_READ {
            format!("a read of {} bases: reads may have up to {MOST_READ}", letters.len())
        } else if name.len() > MOST_NAME {
            format!("a name of {} bytes: BAM allows {MOST_NAME}", name.len())
        } else {
            batch.text.extend_from_slice(name);
            let name = batch.text.len();
            batch.text.extend_from_slice(letters);
            let end = batch.text.len();
            batch.text.extend_from_slice(qualities);
            batch.ends.push([name, end, batch.text.len()]);
            self.taken += 1;
            return Ok(letters.len());
        };
        Err(Error::Input(format!("{}: record {}: {problem}", self.name, self.number)))
    }
}

/// All reads.
pub(crate) struct Source<'a> {
    inputs: std::slice::Iter<'a, Reads>,
    open: Option<(Records, Option<Records>)>,
    cancel: &'a Cancel,
    bytes_total: Option<u64>,
}

impl<'a> Source<'a> {
    /// Looks at every input, so that one that is missing ends the run before it begins.
    pub(crate) fn open(inputs: &'a [Reads], cancel: &'a Cancel) -> Result<Source<'a>, Error> {
        let both = |reads: &'a Reads| std::iter::once(&reads.first).chain(&reads.second);
        let files: Vec<Input> = inputs.iter().flat_map(both).cloned().collect();
        let bytes_total = Reader::open(&files, ReaderOptions::default())?.bytes_total();
        Ok(Source { inputs: inputs.iter(), open: None, cancel, bytes_total })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Refills `batch` with the next reads, and returns how many bytes on disk were read for it;
    /// `None` at the end.
    ///
    /// # Errors
    /// If an input cannot be read, a read is too long, or mates do not come in pairs.
    pub(crate) fn next(&mut self, batch: &mut Batch) -> Result<Option<u64>, Error> {
        batch.clear();
        loop {
            if self.open.is_none() {
                let Some(reads) = self.inputs.next() else { return Ok(None) };
                let first = Records::open(&reads.first, self.cancel)?;
                let second = reads.second.as_ref().map(|input| Records::open(input, self.cancel));
                self.open = Some((first, second.transpose()?));
            }
            let Some((first, second)) = &mut self.open else { return Ok(None) };
            let bytes = |first: &Records, second: &Option<Records>| {
                first.bytes + second.as_ref().map_or(0, |second| second.bytes)
            };
            let before = bytes(first, second);
            batch.paired = second.is_some();
            batch.first = first.number;
            batch.names[0].clone_from(&first.name);
            if let Some(second) = second {
                batch.names[1].clone_from(&second.name);
            }
            let mut bases = 0;
            while batch.len() < BATCH_READS && bases < BATCH_BASES {
                match next_unit(first, second.as_mut(), batch)? {
                    Some(more) => bases += more,
                    None => break,
                }
            }
            if batch.len() > 0 {
                return Ok(Some(bytes(first, second) - before));
            }
            // A reader that was told to stop looks as one that has ended.
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.open = None;
        }
    }
}

/// Adds the next read or pair to `batch` and returns its bases; `None` at the end.
fn next_unit(
    first: &mut Records,
    second: Option<&mut Records>,
    batch: &mut Batch,
) -> Result<Option<usize>, Error> {
    let more = first.has_next()?;
    let Some(second) = second else {
        return if more { first.take(batch).map(Some) } else { Ok(None) };
    };
    if more != second.has_next()? {
        let (longer, shorter) = if more { (first, second) } else { (second, first) };
        return Err(Error::Input(format!(
            "{}: ends after {} records, but {} has more: mates must come in pairs",
            shorter.name, shorter.number, longer.name
        )));
    }
    if !more {
        return Ok(None);
    }
    let bases = first.take(batch)? + second.take(batch)?;
    let [one, two] = [batch.len() - 2, batch.len() - 1].map(|at| batch.get(at)[0]);
    if stem(one) != stem(two) {
        let shown = String::from_utf8_lossy;
        return Err(Error::Input(format!(
            "{}: record {} is {}, but its mate in {} is {}: mates must have the same name",
            first.name,
            first.number,
            shown(one),
            second.name,
            shown(two)
        )));
    }
    Ok(Some(bases))
}
