//! Reading of sequence files by any number of workers.
//!
//! A chunk is made in three steps, so that a single large file keeps all workers busy, whether plain, gzip or BGZF,
//! and so do several files of any compression:
//!
//! 1. *fetch*, by one worker at a time per file: the next range of a plain file or of a large gzip file, the next
//!    compressed blocks of a BGZF file, or the next text of any other file, which is inflated here. Each fetch takes a
//!    ticket, the number of the chunk in its file.
//! 2. *expand*, in parallel: read the range, inflate the blocks or the range (which has an ordered step of its own:
//!    see [`merganser_inflate::parallel`]), and count lines.
//! 3. *join*, in the order of the tickets and in a time that does not depend on the size of the chunk: prepend the
//!    incomplete rest of the previous chunk, and keep the incomplete end for the next one. As lines have been counted,
//!    the beginning of a FASTQ record is known and never guessed; BAM records state their size.
//!
//! SAM and BAM are then converted to FASTQ, again in parallel. CRAM containers are fetched whole and converted to
//! FASTQ in the second step.

mod errors;
mod expand;
mod fetch;
mod join;
mod lines;
mod options;
mod pipe;
mod remote;
mod sources;

pub use lines::{LineChunk, LineReader};
pub(crate) use options::USUAL_RECORD;
pub use options::{ReaderOptions, longest_record};
pub use remote::Place;

use crate::alignment::Formats;
use crate::failures::Failures;
use crate::format::Format;
use crate::input::{Input, check};
use crate::same::warn_of_repeats;
use crate::{Chunk, Error};
use fetch::{Fetched, Origin, Work};
use join::Carry;
use merganser_inflate::parallel::Plan;
use merganser_run::locks::{lock, wait};
use sources::{Lease, Side, Sources};
use std::convert::Infallible;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// A position after all lines, for tickets that failed.
const AFTER_ALL_LINES: u64 = 1 << 63;

/// A reader that returns the text of its inputs chunk by chunk, to any number of workers at once.
pub struct Reader {
    options: ReaderOptions,
    names: Vec<Arc<str>>,
    sources: Sources,
    chains: Vec<Chain>,
    stopped: AtomicBool,
    failures: Arc<Failures>,
    bytes_total: Option<u64>,
    bytes_read: AtomicU64,
    skipped: AtomicU64,
    /// The number of chunks that devices received, and of those that the host had to read.
    sent: AtomicU64,
    recalled: AtomicU64,
}

/// The result of refilling a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Text,
    /// No text: the data read are part of a record that is longer than a chunk.
    Nothing,
    /// The end: there is nothing more.
    End,
}

impl Next {
    /// Returns the result of a chunk that was joined, with text or without; `None` if the reader was stopped.
    fn of(joined: Option<bool>) -> Next {
        match joined {
            Some(true) => Next::Text,
            Some(false) => Next::Nothing,
            None => Next::End,
        }
    }
}

/// The order of the chunks of one file.
#[derive(Default)]
struct Chain {
    state: Mutex<ChainState>,
    changed: Condvar,
}

impl Chain {
    fn of(origin: &Origin) -> Chain {
        let carry = match origin {
            Origin::Input(Input::Stretch(_, stretch)) => Carry::before(stretch),
            _ => Carry::default(),
        };
        Chain {
            state: Mutex::new(ChainState { carry, ..ChainState::default() }),
            ..Chain::default()
        }
    }
}

#[derive(Default)]
struct ChainState {
    /// The ticket whose turn it is.
    ticket: u64,
    /// The number of chunks returned so far.
    handed: u64,
    carry: Carry,
    /// The first ticket that failed; later tickets have no turn.
    failed: Option<u64>,
}

impl ChainState {
    /// Whether an earlier ticket has failed, so that the turn of `ticket` will never come.
    fn has_failed_before(&self, ticket: u64) -> bool {
        self.failed.is_some_and(|failed| failed < ticket)
    }
}

impl Reader {
    /// Opens a reader of `inputs`, which are read approximately in the given order, `options.workers` at a time.
    /// Every input is checked, but nothing is read yet.
    ///
    /// # Errors
    ///
    /// If an input does not exist, is a directory, or is not readable.
    pub fn open<F: Formats>(inputs: &[Input], options: ReaderOptions<F>) -> Result<Self, Error> {
        let options = options.of_any();
        let plan = options.plan();
        Self::open_with(inputs, options, plan)
    }

    /// Opens a reader as [`open`](Self::open) does, but inflates gzip files in ranges of about `range` bytes for
    /// any size and any number of workers. It serves tests, whose files are small.
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_in_ranges<F: Formats>(
        inputs: &[Input],
        options: ReaderOptions<F>,
        range: u64,
    ) -> Result<Self, Error> {
        Self::open_with(inputs, options.of_any(), Some(Plan::of(range)))
    }

    fn open_with(
        inputs: &[Input],
        options: ReaderOptions,
        plan: Option<Plan>,
    ) -> Result<Self, Error> {
        let sizes = inputs.iter().map(check).collect::<Result<Vec<_>, _>>()?;
        if inputs.len() > 1 {
            warn_of_repeats(inputs, &options.warnings);
        }
        let origins = inputs.iter().cloned().map(Origin::Input).collect();
        let names = inputs.iter().map(ToString::to_string).collect();
        Ok(Self::new(origins, names, sizes.into_iter().sum(), options, plan))
    }

    /// Creates a reader of any byte streams, each with its name for messages. They may be compressed in the same
    /// formats as files.
    pub fn from_readers<F: Formats>(
        readers: Vec<(String, Box<dyn Read + Send>)>,
        options: ReaderOptions<F>,
    ) -> Self {
        let (names, origins): (Vec<_>, _) =
            readers.into_iter().map(|(name, reader)| (name, Origin::Reader(reader))).unzip();
        Self::new(origins, names, None, options.of_any(), None)
    }

    fn new(
        origins: Vec<Origin>,
        names: Vec<String>,
        bytes_total: Option<u64>,
        options: ReaderOptions,
        plan: Option<Plan>,
    ) -> Self {
        let options = ReaderOptions {
            chunk_bytes: options.chunk_bytes.max(1),
            workers: options.workers.max(1),
            ..options
        };
        Self {
            chains: origins.iter().map(Chain::of).collect(),
            names: names.into_iter().map(Arc::from).collect(),
            sources: Sources::new(origins, options.workers, plan),
            options,
            stopped: AtomicBool::new(false),
            failures: Arc::default(),
            bytes_total,
            bytes_read: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            recalled: AtomicU64::new(0),
        }
    }

    /// Refills `chunk` with the next text. Returns `false` when everything has been read or the reader was stopped.
    ///
    /// Any number of workers may call it at the same time, each with its own chunk. It waits for slow inputs, and
    /// [`stop`](Self::stop) cannot interrupt that.
    ///
    /// # Errors
    ///
    /// If an input cannot be read or decompressed, or is neither FASTA nor FASTQ. All other workers then get
    /// `false` after they have received the text that was fetched before; in a gzip file that is inflated in
    /// ranges, at once.
    pub fn next_chunk(&self, chunk: &mut Chunk) -> Result<bool, Error> {
        chunk.source_bytes = 0;
        loop {
            match self.next_part(chunk)? {
                Next::Text => return Ok(true),
                Next::Nothing => {}
                Next::End => return Ok(false),
            }
        }
    }

    /// Refills `chunk` as [`next_chunk`](Self::next_chunk) does, but also returns while a record longer than a
    /// chunk is being collected, so that the caller can choose which worker continues. The source bytes of the
    /// chunk are accumulated.
    pub(crate) fn next_part(&self, chunk: &mut Chunk) -> Result<Next, Error> {
        // If this worker panics, the others must not wait for its ticket.
        let guard = StopOnPanic(self);
        self.reset(chunk);
        let result = self.next_text(chunk);
        std::mem::forget(guard);
        result
    }

    /// Prepares a chunk for the next text.
    fn reset(&self, chunk: &mut Chunk) {
        chunk.failures = Arc::clone(&self.failures);
        (chunk.phred, chunk.of_alignments) = (self.options.phred, false);
        chunk.warnings = self.options.warnings.clone();
        chunk.alignments.clear();
        (chunk.text.start, chunk.text.end, chunk.format, chunk.mates) = (0, 0, None, None);
    }

    fn next_text(&self, chunk: &mut Chunk) -> Result<Next, Error> {
        let fetch =
            |lease: &mut Lease, chunk: &mut Chunk| lease.fetch(chunk, &self.options, &self.stopped);
        let mut joined = None;
        if let Some(mut fetched) = self.fetch(chunk, Side::Host, fetch)? {
            let file = chunk.file;
            let in_ranges = matches!(fetched.work, Work::Members(_));
            let ticket = fetched.ticket;
            let failed = |error| self.fail(file, ticket, in_ranges, error);
            let newlines = expand::expand(chunk, &mut fetched, &self.options, &self.stopped)
                .map_err(failed)?;
            joined = self.join(chunk, &fetched, newlines).map_err(failed)?;
            if joined == Some(true) {
                if chunk.first && matches!(chunk.format, Some(Format::Fasta | Format::Fastq)) {
                    self.sources.suits_remote(file);
                }
                let place = chunk.line + chunk.record;
                expand::to_fastq(chunk, &self.options).map_err(|error| {
                    self.stop();
                    self.failures.note(file, place, error)
                })?;
            }
            self.skipped.fetch_add(std::mem::take(&mut chunk.skipped), Ordering::Relaxed);
        }
        if joined.is_none() {
            (chunk.text.start, chunk.text.end) = (0, 0);
        }
        Ok(Next::of(joined))
    }

    /// Takes a file and calls `fetch`, by one worker at a time for each file. Returns `None` when everything has been
    /// fetched or the reader was stopped: then the fetch may have been cut short, which must not be mistaken for the end
    /// of the file.
    fn fetch(
        &self,
        chunk: &mut Chunk,
        side: Side,
        fetch: impl FnOnce(&mut Lease, &mut Chunk) -> Result<Fetched, Error>,
    ) -> Result<Option<Fetched>, Error> {
        let Some(mut lease) = self.sources.take(side, &self.stopped) else { return Ok(None) };
        let file = lease.file();
        chunk.file = file;
        chunk.name = Arc::clone(&self.names[file]);
        let fetched = fetch(&mut lease, chunk)
            .map_err(|error| self.fail(file, lease.ticket(), false, error))?;
        self.bytes_read.fetch_add(fetched.source_bytes, Ordering::Relaxed);
        chunk.source_bytes += fetched.source_bytes;
        self.sources.put_back(lease, fetched.last);
        Ok((!self.stopped.load(Ordering::Acquire)).then_some(fetched))
    }

    /// Joins the chunk to the previous one when it is its turn. Returns `None` if the reader was stopped in the
    /// meantime, and `Some(false)` if no text is left in the chunk.
    fn join(
        &self,
        chunk: &mut Chunk,
        fetched: &Fetched,
        newlines: u64,
    ) -> Result<Option<bool>, Error> {
        let joined = self.in_turn(chunk, fetched, |carry, chunk| {
            Ok::<_, Infallible>(carry.join(chunk, newlines, fetched.last, &self.options))
        });
        joined.unwrap_or_else(|never| match never {})
    }

    /// Waits for the turn of the chunk and calls `join`, whose outer error is a device's.
    fn in_turn<D>(
        &self,
        chunk: &mut Chunk,
        fetched: &Fetched,
        join: impl FnOnce(&mut Carry, &mut Chunk) -> Result<Result<bool, Error>, D>,
    ) -> Result<Result<Option<bool>, Error>, D> {
        let chain = &self.chains[chunk.file];
        let mut state = lock(&chain.state);
        while state.ticket != fetched.ticket {
            if self.stopped.load(Ordering::Acquire) || state.has_failed_before(fetched.ticket) {
                return Ok(Ok(None));
            }
            state = wait(&chain.changed, state);
        }
        if let Err(error) = fetched.check(chunk) {
            return Ok(Err(error));
        }
        let text = join(&mut state.carry, chunk)?;
        // The truncation also explains any problem of the last record.
        if (fetched.cut || fetched.ends_early) && state.carry.is_bam() {
            return Ok(Err(Error::NoEndBlock { input: chunk.name.to_string() }));
        }
        let text = match text {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        if fetched.ends_early {
            warn_of_end(&chunk.name, &self.options);
        }
        state.ticket += 1;
        if text {
            chunk.ordinal = state.handed;
            state.handed += 1;
        }
        if fetched.last {
            state.carry = Carry::default();
        }
        drop(state);
        chain.changed.notify_all();
        Ok(Ok(Some(text)))
    }

    /// Records an error. Nothing more is fetched. The text fetched before `ticket` is still returned, except for
    /// ranges of gzip files, which wait for each other separately.
    fn fail(&self, file: usize, ticket: u64, in_ranges: bool, error: Error) -> Error {
        // Malformed records before the position at which reading failed come first.
        let error = self.failures.note(file, AFTER_ALL_LINES + ticket, error);
        if in_ranges {
            self.stop();
        }
        self.sources.close();
        let mut state = lock(&self.chains[file].state);
        state.failed = Some(state.failed.map_or(ticket, |failed| failed.min(ticket)));
        drop(state);
        self.chains[file].changed.notify_all();
        error
    }

    /// Returns the total size of the inputs on disk in bytes, if all are regular files.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Returns the number of bytes on disk that were consumed so far, for progress displays.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Returns the number of SAM, BAM and CRAM records that were skipped so far: secondary and supplementary
    /// alignments (flags 0x900), whose reads are in another record.
    pub fn skipped_alignments(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Ends the reading: all calls of [`next_chunk`](Self::next_chunk), including those that are waiting, return
    /// `false`. It is used after an error elsewhere or Ctrl-C.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.sources.wake_all();
        for chain in &self.chains {
            // The lock is held so that no thread is between checking the flag and waiting.
            let _state = lock(&chain.state);
            chain.changed.notify_all();
        }
    }

    /// Returns the error to report when workers have failed and `error` was the first in time: the error that is
    /// first in the inputs.
    ///
    /// A single misplaced line makes all later chunks of a FASTQ file look malformed, and another worker may have
    /// found one of these earlier. Call it after all workers have ended.
    pub fn earliest_error(&self, error: Error) -> Error {
        self.failures.earliest().unwrap_or(error)
    }

    /// Returns the names of the inputs, as shown in messages.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }
}

/// Warns of BGZF text without an empty block at its end, which some programs do not write.
fn warn_of_end(name: &str, options: &ReaderOptions) {
    options.warnings.push(format!(
        "{name}: its BGZF data end without an end-of-file block and may be truncated: compare the file \
         with its source (bcl2fastq, for one, writes whole files without this block)"
    ));
}

struct StopOnPanic<'a>(&'a Reader);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
