//! The first step: what must be done to a file by one worker after the other.

use super::ReaderOptions;
use super::pipe::Pipe;
use super::ranges::{Cutter, Plan, Range, Ranges};
use crate::alignment::{self, AlignmentText};
use crate::compress::bgzf::{BlockReader, End};
use crate::compress::gzip::GzipStream;
use crate::compress::{Compression, HEAD};
use crate::input::open_error;
use crate::{Chunk, Error, Input};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Bytes = Box<dyn Read + Send>;

/// Where a file's bytes come from.
pub(super) enum Origin {
    Input(Input),
    Reader(Bytes),
}

/// Fetches from one file, one chunk after the other.
pub(super) struct Fetcher {
    file: usize,
    state: FetchState,
    ticket: u64,
    /// Bytes read from the file.
    count: Arc<AtomicU64>,
    /// Counts the records passed over, if alignments are to be turned into reads.
    skipped: Option<Arc<AtomicU64>>,
    /// How to cut gzip files into ranges, if at all.
    plan: Option<Plan>,
}

enum FetchState {
    Unopened(Origin),
    Plain { file: Arc<File>, offset: u64, length: u64 },
    Blocks(BlockReader<Bytes>),
    Ranges(Cutter),
    Stream { text: Bytes, compression: Compression },
    Closed,
}

/// One fetch: its place in the file, and what is left to do.
pub(super) struct Fetched {
    pub(super) ticket: u64,
    /// Nothing follows.
    pub(super) last: bool,
    pub(super) source_bytes: u64,
    pub(super) work: Work,
}

/// What [`expand`](super::expand) has to do.
pub(super) enum Work {
    /// Read this range into the chunk's buffer.
    Range { file: Arc<File>, offset: u64, length: usize },
    /// Inflate the chunk's blocks.
    Blocks,
    /// Decode this range of a gzip file; without one, the text is there but for its sums.
    Members { ranges: Arc<Ranges>, range: Option<Range> },
    /// The text is there.
    Text,
}

/// The bytes of a file, counted.
struct Raw {
    bytes: Bytes,
    count: Arc<AtomicU64>,
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Compressed bytes read at a time.
const RAW_BUFFER: usize = 256 * 1024;

/// Bytes of a BGZF block at most.
const MOST_OF_A_BLOCK: usize = 1 << 16;

impl Fetcher {
    pub(super) fn new(file: usize, origin: Origin, plan: Option<Plan>) -> Self {
        let state = FetchState::Unopened(origin);
        Self { file, state, ticket: 0, count: Arc::default(), skipped: None, plan }
    }

    /// Has the reads of SAM and BAM files come as FASTQ.
    pub(super) fn of_sequences(self, skipped: Arc<AtomicU64>) -> Self {
        Self { skipped: Some(skipped), ..self }
    }

    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// The ticket of the next fetch.
    pub(super) fn ticket(&self) -> u64 {
        self.ticket
    }

    pub(super) fn fetch(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> Result<Fetched, Error> {
        let before = self.count.load(Ordering::Relaxed);
        if let FetchState::Unopened(_) = self.state {
            self.open(&chunk.name, options)?;
        }
        let (work, last) = self.advance(chunk, options, stopped)?;
        self.ticket += 1;
        let source_bytes = self.count.load(Ordering::Relaxed) - before;
        Ok(Fetched { ticket: self.ticket - 1, last, source_bytes, work })
    }

    fn advance(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> Result<(Work, bool), Error> {
        match &mut self.state {
            FetchState::Plain { file, offset, length } => {
                let range = (*length - *offset).min(options.chunk_bytes as u64);
                let work =
                    Work::Range { file: Arc::clone(file), offset: *offset, length: range as usize };
                *offset += range;
                self.count.fetch_add(range, Ordering::Relaxed);
                Ok((work, offset == length))
            }
            FetchState::Blocks(reader) => {
                let end = reader
                    .fetch(options.chunk_bytes, &mut chunk.raw, &mut chunk.blocks)
                    .map_err(|error| decode_error(&chunk.name, Compression::Bgzf, &error))?;
                if end == End::Other {
                    self.leave_blocks();
                }
                Ok((Work::Blocks, end == End::Input))
            }
            FetchState::Ranges(cutter) => cutter.next(chunk, options, stopped, &self.count),
            FetchState::Stream { text, compression } => {
                let room = chunk.room(options.headroom(), options.chunk_bytes);
                let wanted = room.len();
                let read = fill(text, room, stopped)
                    .map_err(|error| decode_error(&chunk.name, *compression, &error))?;
                chunk.end = chunk.start + read;
                Ok((Work::Text, read < wanted))
            }
            FetchState::Unopened(_) | FetchState::Closed => Ok((Work::Text, true)),
        }
    }

    /// Goes on as a stream where a BGZF file turns into something else, e.g. plain gzip.
    fn leave_blocks(&mut self) {
        if let FetchState::Blocks(reader) = std::mem::replace(&mut self.state, FetchState::Closed) {
            let rest = BufReader::with_capacity(RAW_BUFFER, reader.into_rest());
            let text = Box::new(GzipStream::new(rest));
            self.state = FetchState::Stream { text, compression: Compression::Gzip };
        }
    }

    fn open(&mut self, name: &str, options: &ReaderOptions) -> Result<(), Error> {
        let FetchState::Unopened(origin) = std::mem::replace(&mut self.state, FetchState::Closed)
        else {
            return Ok(());
        };
        let bytes: Bytes = match origin {
            Origin::Reader(bytes) => bytes,
            Origin::Input(Input::Stdin) => Box::new(
                Pipe::stdin(options.cancel.clone()).map_err(|error| read_error(name, error))?,
            ),
            Origin::Input(input @ Input::File(_)) => {
                let (file, length) = open_file(&input)?;
                let mut head = [0; HEAD];
                let known = match length {
                    0 => 0,
                    _ => file.read_at(&mut head, 0).map_err(|error| read_error(name, error))?,
                };
                let head = &head[..known];
                let sequences = self.skipped.is_some();
                let alignments = sequences && alignment::Format::sniff(head).is_some();
                match (Compression::sniff(head), self.plan) {
                    (Compression::None, _) if known > 0 && !alignments => {
                        let file = Arc::new(file);
                        self.state = FetchState::Plain { file, offset: 0, length };
                        return Ok(());
                    }
                    (Compression::Gzip, Some(plan))
                        if plan.is_worth(length) && !(sequences && holds_alignments(&file)) =>
                    {
                        self.state = FetchState::Ranges(Cutter::new(file, length, plan));
                        return Ok(());
                    }
                    _ => {}
                }
                Box::new(Pipe::new(file, options.cancel.clone()))
            }
        };
        self.state = self.stream(bytes, name)?;
        Ok(())
    }

    fn stream(&self, bytes: Bytes, name: &str) -> Result<FetchState, Error> {
        let mut raw = Raw { bytes, count: Arc::clone(&self.count) };
        let mut head = Vec::with_capacity(HEAD);
        (&mut raw)
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|error| read_error(name, error))?;
        let compression = Compression::sniff(&head);
        if compression == Compression::Bgzf {
            // Its first block, which is at most of this size, shows what it holds.
            (&mut raw)
                .take((MOST_OF_A_BLOCK - head.len()) as u64)
                .read_to_end(&mut head)
                .map_err(|error| read_error(name, error))?;
            let blocks = self.skipped.is_none() || first_text(&head).is_none();
            let whole: Bytes = Box::new(Cursor::new(head).chain(raw));
            if blocks {
                return Ok(FetchState::Blocks(BlockReader::new(whole)));
            }
            return self.text(whole, compression, name);
        }
        // The head again, then the rest.
        self.text(Box::new(Cursor::new(head).chain(raw)), compression, name)
    }

    /// The text of compressed bytes, as FASTQ if they hold alignments.
    fn text(
        &self,
        whole: Bytes,
        compression: Compression,
        name: &str,
    ) -> Result<FetchState, Error> {
        let failed = |error: io::Error| decode_error(name, compression, &error);
        let mut text: Bytes = match compression {
            Compression::None => whole,
            _ => {
                compression.decoder(BufReader::with_capacity(RAW_BUFFER, whole)).map_err(failed)?
            }
        };
        if let Some(skipped) = &self.skipped {
            let mut head = Vec::with_capacity(HEAD);
            // A decoder says only once what is wrong.
            (&mut text).take(alignment::HEAD as u64).read_to_end(&mut head).map_err(failed)?;
            let format = alignment::Format::sniff(&head);
            text = Box::new(Cursor::new(head).chain(text));
            if let Some(format) = format {
                text = Box::new(AlignmentText::new(text, format, Arc::clone(skipped)));
            }
        }
        Ok(FetchState::Stream { text, compression })
    }
}

/// Whether a gzip file holds alignments. One that cannot be read will say so where it is read.
fn holds_alignments(file: &File) -> bool {
    let mut head = vec![0; MOST_OF_A_BLOCK];
    let known = file.read_at(&mut head, 0).unwrap_or(0);
    first_text(&head[..known]).is_some()
}

/// The format of alignments whose gzip or BGZF file begins with `head`.
fn first_text(head: &[u8]) -> Option<alignment::Format> {
    let mut text = Vec::new();
    let first = GzipStream::new(Cursor::new(head.to_vec()));
    // The block may be cut, or damaged, which shows where it is read in order.
    let _ = first.take(alignment::HEAD as u64).read_to_end(&mut text);
    alignment::Format::sniff(&text)
}

/// Opens a file, and gives its length if it is a regular one, else 0.
fn open_file(input: &Input) -> Result<(File, u64), Error> {
    let Input::File(path) = input else {
        return Err(open_error(input, &io::ErrorKind::NotFound.into()));
    };
    // Without waiting for a named pipe's writer: its reader waits, and can be cancelled.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, Mode::empty());
    let file = File::from(opened.map_err(|error| open_error(input, &error.into()))?);
    let metadata = file.metadata().map_err(|error| open_error(input, &error))?;
    if !metadata.is_file() {
        return Ok((file, 0));
    }
    // Only a hint, for larger read-ahead; not all file systems take it.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Sequential);
    // Files in /proc are regular and of length 0, yet have bytes: they are read as streams.
    Ok((file, metadata.len()))
}

/// Reads until `room` is full or the text ends.
fn fill(text: &mut dyn Read, room: &mut [u8], stopped: &AtomicBool) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() && !stopped.load(Ordering::Relaxed) {
        match text.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

pub(super) fn read_error(name: &str, error: io::Error) -> Error {
    Error::Read { input: name.to_owned(), cause: Arc::new(error) }
}

/// What a decompressor's error means: the system's errors pass through it unchanged.
pub(super) fn decode_error(name: &str, compression: Compression, error: &io::Error) -> Error {
    let input = name.to_owned();
    if compression == Compression::None || error.raw_os_error().is_some() {
        let cause = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        return read_error(name, cause);
    }
    let compression = compression.name();
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Error::Truncated { input, compression };
    }
    Error::Corrupt { input, compression, detail: error.to_string() }
}
