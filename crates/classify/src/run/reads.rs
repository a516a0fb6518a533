//! Reads and pairs in their order, a batch at a time.

use merganser_io::{Chunk, Input, Reader, ReaderOptions, Sink};
use merganser_run::Cancel;

use crate::Error;

/// A stretch of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Reads that stand for themselves.
    Single(Input),
    /// Pairs: the mates one after the other.
    Interleaved(Input),
    /// Pairs: the first mates and the second mates.
    Pair(Input, Input),
}

impl Segment {
    /// Whether it is of pairs.
    pub fn is_paired(&self) -> bool {
        !matches!(self, Segment::Single(_))
    }

    /// The files of the segment.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let (first, second) = match self {
            Segment::Single(input) | Segment::Interleaved(input) => (input, None),
            Segment::Pair(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A batch is full with so many bases or records.
const BATCH_BASES: usize = 1 << 20;
const BATCH_RECORDS: usize = 8192;

/// Reads with their names, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Header, letters and qualities of each mate; of the header only the name, and no qualities,
    /// unless they are asked for.
    pub(super) text: Vec<u8>,
    pub(super) ends: Vec<Ends>,
    pub(super) paired: bool,
    /// Reads before these, in all.
    pub(super) first: u64,
}

/// Where in the text the parts of a mate end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) name: usize,
    pub(super) header: usize,
    pub(super) letters: usize,
    pub(super) quality: usize,
    pub(super) fastq: bool,
}

impl Ends {
    fn each(self, change: impl Fn(usize) -> usize) -> Ends {
        let Ends { name, header, letters, quality, fastq } = self;
        let [name, header, letters, quality] = [name, header, letters, quality].map(change);
        Ends { name, header, letters, quality, fastq }
    }

    fn less(self, offset: usize) -> Ends {
        self.each(|end| end - offset)
    }

    fn plus(self, offset: usize) -> Ends {
        self.each(|end| end + offset)
    }
}

/// A mate as its file has it.
pub(super) struct Record<'a> {
    pub(super) name: &'a [u8],
    pub(super) header: &'a [u8],
    pub(super) letters: &'a [u8],
    /// `None` in FASTA.
    pub(super) quality: Option<&'a [u8]>,
}

impl Batch {
    /// Reads; a pair is one.
    pub(super) fn len(&self) -> usize {
        self.ends.len() / self.mates()
    }

    /// 1, or 2 for pairs.
    pub(super) fn mates(&self) -> usize {
        1 + usize::from(self.paired)
    }

    /// A mate by its place among all mates.
    pub(super) fn record(&self, at: usize) -> Record<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1].quality };
        let Ends { name, header, letters, quality, fastq } = self.ends[at];
        Record {
            name: &self.text[start..name],
            header: &self.text[start..header],
            letters: &self.text[header..letters],
            quality: fastq.then(|| &self.text[letters..quality]),
        }
    }

    /// The letters of each read's mates.
    pub(super) fn views(&self) -> Vec<[&[u8]; 2]> {
        let letters = |at: usize| self.record(at).letters;
        let reads = 0..self.len();
        match self.paired {
            true => reads.map(|read| [letters(2 * read), letters(2 * read + 1)]).collect(),
            false => reads.map(|read| [letters(read), &[][..]]).collect(),
        }
    }

    /// The name of a read; of a pair, what its mates' names share.
    pub(super) fn id(&self, read: usize) -> &[u8] {
        let name = self.record(read * self.mates()).name;
        if self.paired { stem(name) } else { name }
    }

    /// The bases of a read, and those of its mate.
    pub(super) fn lengths(&self, read: usize) -> (usize, Option<usize>) {
        let first = self.record(read * self.mates()).letters.len();
        (first, self.paired.then(|| self.record(2 * read + 1).letters.len()))
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
}

/// Records as a chunk gives them.
#[derive(Default)]
struct Held {
    batch: Batch,
    /// The last record may go on in the next chunk.
    open: Option<usize>,
    /// Keep whole headers, and qualities.
    whole: bool,
}

impl Sink for Held {
    fn begin(&mut self, header: &[u8]) {
        let start = self.batch.text.len();
        let name = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        let kept = if self.whole { header.len() } else { name };
        self.batch.text.extend_from_slice(&header[..kept]);
        let (name, end) = (start + name, start + kept);
        let ends = Ends { name, header: end, letters: end, quality: end, fastq: false };
        self.batch.ends.push(ends);
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        let Some(last) = self.batch.ends.last_mut() else { return };
        self.batch.text.extend_from_slice(line);
        last.letters = self.batch.text.len();
        if let Some(quality) = quality.filter(|_| self.whole) {
            self.batch.text.extend_from_slice(quality);
            last.fastq = true;
        }
        last.quality = self.batch.text.len();
    }

    fn end(&mut self) {}
}

impl Records {
    fn open(input: &Input, whole: bool, cancel: &Cancel) -> Result<Records, Error> {
        let options = ReaderOptions {
            chunk_bytes: 1 << 20,
            cancel: cancel.clone(),
            ..ReaderOptions::default()
        };
        Ok(Records {
            reader: Reader::open(std::slice::from_ref(input), options)?,
            chunk: Chunk::default(),
            held: Held { open: Some(0), whole, ..Held::default() },
            taken: 0,
            number: 0,
            bytes: 0,
        })
    }

    /// Sees to it that a whole record is held, if there is one.
    fn has_next(&mut self) -> Result<bool, Error> {
        // The last record held may go on as long as the file does.
        while self.held.open.is_some() && self.taken + 1 >= self.held.batch.ends.len() {
            self.forget_taken();
            if !self.reader.next_chunk(&mut self.chunk)? {
                self.held.open = None;
                break;
            }
            self.bytes += self.chunk.source_bytes();
            self.chunk.parse(&mut self.held)?;
        }
        Ok(self.taken < self.held.batch.ends.len())
    }

    fn forget_taken(&mut self) {
        let batch = &mut self.held.batch;
        let Some(last) = self.taken.checked_sub(1).map(|at| batch.ends[at].quality) else { return };
        batch.text.drain(..last);
        batch.ends.drain(..self.taken);
        for ends in &mut batch.ends {
            *ends = ends.less(last);
        }
        self.taken = 0;
    }

    /// Moves the next record, which must be there, to `batch`.
    fn take(&mut self, batch: &mut Batch) {
        let held = &self.held.batch;
        let start = if self.taken == 0 { 0 } else { held.ends[self.taken - 1].quality };
        let ends = held.ends[self.taken];
        let to = batch.text.len();
        batch.text.extend_from_slice(&held.text[start..ends.quality]);
        batch.ends.push(ends.less(start).plus(to));
        self.taken += 1;
        self.number += 1;
    }

    fn name(&self) -> String {
        self.reader.names().next().unwrap_or_default().to_owned()
    }
}

/// All segments.
pub(super) struct Source<'a> {
    segments: std::slice::Iter<'a, Segment>,
    open: Option<(&'a Segment, Records, Option<Records>)>,
    cancel: &'a Cancel,
    /// Keep whole headers, and qualities.
    whole: bool,
    bytes_total: Option<u64>,
    batches: u64,
    reads: u64,
    stopped: bool,
}

impl<'a> Source<'a> {
    /// Looks at every input, so that one that is missing ends the run before it begins.
    /// With `whole`, records come with their whole headers and qualities.
    pub(super) fn open(
        segments: &'a [Segment],
        whole: bool,
        cancel: &'a Cancel,
    ) -> Result<Source<'a>, Error> {
        let inputs: Vec<Input> = segments.iter().flat_map(Segment::inputs).cloned().collect();
        let bytes_total = Reader::open(&inputs, ReaderOptions::default())?.bytes_total();
        Ok(Source {
            segments: segments.iter(),
            open: None,
            cancel,
            whole,
            bytes_total,
            batches: 0,
            reads: 0,
            stopped: false,
        })
    }

    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// No more batches.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Refills `batch` with the next reads, all single or all pairs; gives its number and the
    /// bytes on disk that were read for it, or `None` at the end.
    ///
    /// # Errors
    /// The first in the order of the reads; then nothing comes any more, so that it is the only one.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> Result<Option<(u64, u64)>, Error> {
        self.next_batch(batch).inspect_err(|_| self.stop())
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<Option<(u64, u64)>, Error> {
        batch.text.clear();
        batch.ends.clear();
        while !self.stopped {
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let Some((segment, first, second)) = &mut self.open else {
                let Some(segment) = self.segments.next() else { break };
                let mut records =
                    segment.inputs().map(|input| Records::open(input, self.whole, self.cancel));
                let first = records.next().transpose()?;
                let second = records.next().transpose()?;
                self.open = first.map(|first| (segment, first, second));
                continue;
            };
            batch.paired = segment.is_paired();
            let read = |records: &Records| records.bytes;
            let before = read(first) + second.as_ref().map_or(0, read);
            while batch.text.len() < BATCH_BASES && batch.ends.len() < BATCH_RECORDS {
                if !next_read(segment, first, second.as_mut(), batch)? {
                    break;
                }
            }
            let after = read(first) + second.as_ref().map_or(0, read);
            if batch.ends.is_empty() {
                // A reader that was told to stop looks as one that has ended.
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                self.open = None;
                continue;
            }
            self.batches += 1;
            batch.first = self.reads;
            self.reads += batch.len() as u64;
            return Ok(Some((self.batches - 1, after - before)));
        }
        Ok(None)
    }
}

/// Adds the next read or pair to `batch`; false at the end of the segment.
fn next_read(
    segment: &Segment,
    first: &mut Records,
    second: Option<&mut Records>,
    batch: &mut Batch,
) -> Result<bool, Error> {
    let (one, two) = (first.has_next()?, second.is_some());
    match (segment, second) {
        (Segment::Pair(..), Some(second)) => {
            let other = second.has_next()?;
            if one != other {
                let (more, less) = if one { (&*first, &*second) } else { (&*second, &*first) };
                return Err(Error::Input(format!(
                    "{}: ends after {} records, but {} has more: mates must come in pairs",
                    less.name(),
                    less.number,
                    more.name()
                )));
            }
            if !one {
                return Ok(false);
            }
            first.take(batch);
            second.take(batch);
            check_names(batch, first, second.name())?;
        }
        _ if !one => return Ok(false),
        (Segment::Interleaved(_), _) => {
            first.take(batch);
            if !first.has_next()? {
                return Err(Error::Input(format!(
                    "{}: record {}, the last one, has no mate: interleaved files have an even \
                     number of records",
                    first.name(),
                    first.number
                )));
            }
            first.take(batch);
            check_names(batch, first, first.name())?;
        }
        _ => first.take(batch),
    }
    debug_assert!(!two || batch.paired);
    Ok(true)
}

/// Sees to it that the last two records of the batch have the same name.
fn check_names(batch: &Batch, first: &Records, second: String) -> Result<(), Error> {
    let at = batch.ends.len();
    let (one, two) = (batch.record(at - 2).name, batch.record(at - 1).name);
    if stem(one) == stem(two) {
        return Ok(());
    }
    let shown = String::from_utf8_lossy;
    Err(Error::Input(format!(
        "{}: record {} is {}, but its mate in {second} is {}: mates must have the same name",
        first.name(),
        first.number,
        shown(one),
        shown(two)
    )))
}
