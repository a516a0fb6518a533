//! The first step: work on a file that only one worker can do at a time.

mod open;

use super::ReaderOptions;
use super::errors::{decode_error, read_error};
use crate::alignment::{Container, Containers};
use crate::compress::{Compression, max_window};
use crate::there::uninterrupted;
use crate::{Chunk, Error, Input};
use merganser_inflate::bgzf::{BlockReader, BlockWalk, End, MAX_BLOCK};
use merganser_inflate::parallel::{Cutter, Piece, Plan};
use merganser_inflate::{Ahead, GzipStream, RemoteRoom, TextsAhead};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Bytes = Box<dyn Read + Send>;

/// A text that was inflated ahead.
type AheadText = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The source of a file's bytes.
pub(super) enum Origin {
    Input(Input),
    Reader(Bytes),
}

/// The state of fetching from one file, chunk after chunk.
pub(super) struct Fetcher {
    file: usize,
    state: FetchState,
    ticket: u64,
    /// The number of bytes read from the file.
    count: Arc<AtomicU64>,
    /// Whether CRAM is decoded.
    sequences: bool,
    /// The FASTA file of reference sequences, in case the file is CRAM.
    reference: Option<Arc<Path>>,
    /// The plan for cutting gzip files into ranges, if they are cut.
    plan: Option<Plan>,
    /// The number of files that may be open at the same time, including this one.
    at_once: usize,
    /// Whether the last fetched block of a BGZF file is not the empty block that should be last.
    ends_early: bool,
    /// Whether the end of the file was checked and lacks such a block.
    cut: bool,
}

enum FetchState {
    Unopened(Origin),
    /// The bytes from `offset` to `length` of a plain file.
    Plain {
        file: Arc<File>,
        offset: u64,
        length: u64,
    },
    Blocks(BlockReader<Bytes>),
    /// BGZF in a regular file.
    Walk {
        file: Arc<File>,
        walk: BlockWalk,
        /// Whether nothing was refused so far by a device that inflates ahead.
        may_leave: bool,
    },
    /// BGZF in a regular file, inflated ahead on a device; the text that is being returned, with the position in it.
    Ahead {
        file: Arc<File>,
        texts: Box<dyn TextsAhead>,
        current: Option<(AheadText, usize)>,
    },
    Ranges(Cutter),
    Stream {
        text: Bytes,
        compression: Compression,
    },
    Cram(Box<dyn Containers>),
    Closed,
}

/// One fetch: its position in the file, and the remaining work.
pub(super) struct Fetched {
    pub(super) ticket: u64,
    /// Whether this is the last fetch of the file.
    pub(super) last: bool,
    pub(super) source_bytes: u64,
    /// Whether this is the last fetch of BGZF data without an empty block at the end.
    pub(super) ends_early: bool,
    /// Whether the file was found to lack the empty block when it was opened; gzip may follow the BGZF data.
    pub(super) cut: bool,
    pub(super) work: Work,
}

/// The remaining work for [`expand`](super::expand).
pub(super) enum Work {
    /// Read this range into the chunk's buffer.
    Range { file: Arc<File>, offset: u64, length: usize },
    /// Inflate the chunk's blocks.
    Blocks,
    /// Read this range, which has the chunk's blocks, and inflate them.
    FileBlocks { file: Arc<File>, offset: u64, length: usize },
    /// Copy this range of a text.
    Piece { text: AheadText, range: Range<usize> },
    /// Expand this piece of a gzip file.
    Members(Piece),
    /// Decode this container.
    Container(Box<dyn Container>),
    /// The text is complete.
    Text,
}

impl Fetched {
    /// Checks the checksums of a gzip file whose ends lie within the text of `chunk`, in the order of the text.
    pub(super) fn check(&self, chunk: &mut Chunk) -> Result<(), Error> {
        let Work::Members(piece) = &self.work else { return Ok(()) };
        piece
            .check(&mut chunk.text)
            .map_err(|error| decode_error(&chunk.name, Compression::Gzip, &error.into()))
    }
}

/// A reader that counts the bytes of a file.
struct Raw {
    bytes: Bytes,
    count: Arc<AtomicU64>,
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = uninterrupted(|| self.bytes.read(buffer))?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The number of compressed bytes that are read at a time.
const RAW_BUFFER: usize = 256 * 1024;

impl Fetcher {
    pub(super) fn new(file: usize, origin: Origin, plan: Option<Plan>) -> Self {
        let reference = match &origin {
            Origin::Input(input) => input.reference().cloned(),
            Origin::Reader(_) => None,
        };
        let state = FetchState::Unopened(origin);
        let count = Arc::default();
        Self {
            file,
            state,
            ticket: 0,
            count,
            sequences: false,
            reference,
            plan,
            at_once: 1,
            ends_early: false,
            cut: false,
        }
    }

    /// Sets that the reads of CRAM files are converted to FASTQ.
    pub(super) fn of_sequences(self) -> Self {
        Self { sequences: true, ..self }
    }

    /// Sets that memory is shared with other files, `at_once` of which may be open at the same time.
    pub(super) fn one_of(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Returns the ticket of the next fetch.
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
        Ok(self.fetched(work, last, before))
    }

    /// Counts a fetch, before which `before` bytes of the file had been read.
    fn fetched(&mut self, work: Work, last: bool, before: u64) -> Fetched {
        self.ticket += 1;
        let source_bytes = self.count.load(Ordering::Relaxed) - before;
        let (ticket, cut) = (self.ticket - 1, self.cut);
        Fetched { ticket, last, source_bytes, ends_early: last && self.ends_early, cut, work }
    }

    fn advance(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> Result<(Work, bool), Error> {
        match &mut self.state {
            FetchState::Plain { file, offset, length } => {
                Ok(plain_range(file, (offset, *length), options.chunk_bytes, &self.count))
            }
            FetchState::Blocks(reader) => {
                let end = reader
                    .fetch(options.chunk_bytes, &mut chunk.text.raw, &mut chunk.blocks)
                    .map_err(|error| decode_error(&chunk.name, Compression::Bgzf, &error.into()))?;
                self.ends_early = !reader.is_at_end_block();
                if end == End::Other {
                    self.leave_blocks();
                }
                Ok((Work::Blocks, end == End::Input))
            }
            FetchState::Walk { .. } => {
                self.leave_to_device(options);
                match self.state {
                    FetchState::Ahead { .. } => self.take_ahead(chunk, options),
                    _ => self.walk_chunk(chunk, options),
                }
            }
            FetchState::Ahead { .. } => self.take_ahead(chunk, options),
            FetchState::Ranges(cutter) => {
                let next = cutter.next(&mut chunk.text, options.sizes(), stopped, &self.count);
                let (piece, last) = next
                    .map_err(|error| decode_error(&chunk.name, Compression::Gzip, &error.into()))?;
                Ok((Work::Members(piece), last))
            }
            FetchState::Stream { text, compression } => {
                let room = chunk.text.room(options.headroom(), options.chunk_bytes);
                let wanted = room.len();
                let read = fill(text, room, stopped).map_err(|error| {
                    let window = max_window(self.at_once);
                    window_error(&chunk.name, *compression, &error, window)
                        .unwrap_or_else(|| decode_error(&chunk.name, *compression, &error))
                })?;
                chunk.text.end = chunk.text.start + read;
                // After BGZF: the data continued as another kind of gzip, whose end has no marker block.
                self.ends_early &= read == 0;
                Ok((Work::Text, read < wanted))
            }
            FetchState::Cram(containers) => {
                let next = containers.next().map_err(|error| cram_error(&chunk.name, &error))?;
                let work = next.map(Work::Container);
                let last = work.is_none();
                Ok((work.unwrap_or(Work::Text), last))
            }
            FetchState::Unopened(_) | FetchState::Closed => Ok((Work::Text, true)),
        }
    }

    /// Takes the next piece of text that was inflated ahead, or goes on with the rest of the file.
    fn take_ahead(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
    ) -> Result<(Work, bool), Error> {
        let FetchState::Ahead { file, texts, current } = &mut self.state else {
            return Ok((Work::Text, true));
        };
        loop {
            if let Some((text, at)) = current
                && let left = (**text).as_ref().len() - *at
                && left > 0
            {
                let range = *at..*at + left.min(options.chunk_bytes);
                *at = range.end;
                return Ok((Work::Piece { text: Arc::clone(text), range }, false));
            }
            // Frees its buffers for the next texts.
            *current = None;
            match texts.next() {
                Ahead::Text(text, bytes) => {
                    self.count.fetch_add(bytes, Ordering::Relaxed);
                    *current = Some((text, 0));
                }
                Ahead::Rest(walk) => {
                    let file = Arc::clone(file);
                    self.state = FetchState::Walk { file, walk, may_leave: false };
                    return self.walk_chunk(chunk, options);
                }
            }
        }
    }

    /// Leaves the rest of a BGZF file to a device that inflates ahead, if there is one by now.
    fn leave_to_device(&mut self, options: &ReaderOptions) {
        if let FetchState::Walk { file, walk, may_leave: true } = &self.state
            && let Some(inflater) = &options.inflater
            && let Some(texts) = inflater.start(file, walk)
        {
            self.state = FetchState::Ahead { file: Arc::clone(file), texts, current: None };
        }
    }

    /// Finds the blocks of the next chunk of a BGZF file.
    fn walk_chunk(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
    ) -> Result<(Work, bool), Error> {
        let wanted = options.chunk_bytes;
        // The second condition limits the size of a run of empty blocks.
        self.walk(chunk, |text, bytes, _| text >= wanted || bytes >= wanted.max(RAW_BUFFER))
    }

    /// Finds the next blocks of a BGZF file, until `is_full` (see [`BlockWalk::next`]).
    fn walk(
        &mut self,
        chunk: &mut Chunk,
        is_full: impl Fn(usize, usize, usize) -> bool,
    ) -> Result<(Work, bool), Error> {
        let FetchState::Walk { file, walk, .. } = &mut self.state else {
            return Ok((Work::Text, true));
        };
        let failed = |error| decode_error(&chunk.name, Compression::Bgzf, &error);
        let (file, offset) = (Arc::clone(file), walk.offset());
        let read_at = |bytes: &mut [u8], offset| file.read_exact_at(bytes, offset);
        let end =
            walk.next(read_at, is_full, &mut chunk.blocks).map_err(|error| failed(error.into()))?;
        let length = walk.offset() - offset;
        self.count.fetch_add(length, Ordering::Relaxed);
        self.ends_early = !walk.is_at_end_block();
        if end == End::Other {
            let rest = self.rest_of_walk().map_err(failed)?;
            self.state = gzip_stream(rest);
        }
        let work = Work::FileBlocks { file, offset, length: length as usize };
        Ok((work, end == End::Input))
    }

    /// Returns the bytes of a BGZF file after the blocks that were found.
    fn rest_of_walk(&self) -> io::Result<Bytes> {
        let FetchState::Walk { file, walk, .. } = &self.state else {
            return Ok(Box::new(io::empty()));
        };
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(walk.offset()))?;
        Ok(Box::new(Raw { bytes: Box::new(file), count: Arc::clone(&self.count) }))
    }

    /// Continues as a stream if a BGZF file turns into something else, such as plain gzip.
    fn leave_blocks(&mut self) {
        if let FetchState::Blocks(reader) = std::mem::replace(&mut self.state, FetchState::Closed) {
            self.state = gzip_stream(reader.into_rest());
        }
    }

    /// Whether the rest of the file can be read at any offset, plain or as BGZF blocks.
    pub(super) fn is_for_remote(&self) -> bool {
        matches!(self.state, FetchState::Plain { .. } | FetchState::Walk { .. })
    }

    /// Fetches as [`fetch`](Self::fetch) does, as much as has room on a device, without reading it.
    pub(super) fn fetch_remote(
        &mut self,
        chunk: &mut Chunk,
        room: RemoteRoom,
    ) -> Result<Fetched, Error> {
        let before = self.count.load(Ordering::Relaxed);
        let (work, last) = match &mut self.state {
            FetchState::Plain { file, offset, length } => {
                plain_range(file, (offset, *length), room.bytes.min(room.text), &self.count)
            }
            _ => self.walk(chunk, |text, bytes, blocks| {
                text + MAX_BLOCK > room.text
                    || bytes + MAX_BLOCK > room.bytes
                    || blocks == room.blocks
            })?,
        };
        Ok(self.fetched(work, last, before))
    }
}

/// Takes the next bytes of a plain file, up to `most`; returns the work, and whether they are the last.
fn plain_range(
    file: &Arc<File>,
    (offset, length): (&mut u64, u64),
    most: usize,
    count: &AtomicU64,
) -> (Work, bool) {
    let range = (length - *offset).min(most as u64);
    let work = Work::Range { file: Arc::clone(file), offset: *offset, length: range as usize };
    *offset += range;
    count.fetch_add(range, Ordering::Relaxed);
    (work, *offset == length)
}

/// Returns the state of reading `rest`, which is gzip.
fn gzip_stream(rest: impl Read + Send + 'static) -> FetchState {
    let text = Box::new(GzipStream::new(BufReader::with_capacity(RAW_BUFFER, rest)));
    FetchState::Stream { text, compression: Compression::Gzip }
}

/// Reads until `room` is full or the text ends. Returns the number of bytes. If `stopped` is set, the text may be cut
/// short: the caller must look at `stopped` again. `Relaxed` is enough for that, as a thread that has seen a value of a
/// variable never sees an older one.
fn fill(text: &mut dyn Read, room: &mut [u8], stopped: &AtomicBool) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() && !stopped.load(Ordering::Relaxed) {
        match uninterrupted(|| text.read(&mut room[filled..]))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Converts an error of reading a CRAM file.
fn cram_error(name: &str, error: &io::Error) -> Error {
    let input = name.to_owned();
    match (error.raw_os_error(), error.kind()) {
        (Some(code), _) => read_error(name, io::Error::from_raw_os_error(code)),
        (None, io::ErrorKind::UnexpectedEof) => Error::Truncated { input, compression: "CRAM" },
        _ => Error::Alignment { input, place: "CRAM".into(), problem: error.to_string() },
    }
}

/// Returns the error for data whose window is larger than the memory allows, if `error` is of that kind.
fn window_error(
    name: &str,
    compression: Compression,
    error: &io::Error,
    window: u32,
) -> Option<Error> {
    let is_that = match compression {
        // libzstd reports this only by its message.
        Compression::Zstd => error.to_string().contains("too much memory"),
        _ => {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
            matches!(cause, Some(liblzma::stream::Error::MemLimit))
        }
    };
    let (input, compression) = (name.to_owned(), compression.name());
    is_that.then(|| Error::Window { input, compression, limit: 1 << window })
}
