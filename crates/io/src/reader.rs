//! Reading sequence files by any number of workers.
//!
//! A chunk is made in three steps, so that one large file keeps all workers busy, be it plain, gzip
//! or BGZF, and so do several of any compression:
//!
//! 1. *fetch*, for one worker at a time on each file: the next range of a plain file or of a large
//!    gzip file, the next compressed blocks of a BGZF file, the next text of any other (which
//!    inflates it here). Each fetch takes a ticket, the chunk's number in its file.
//! 2. *expand*, in parallel: read the range, inflate the blocks or the range (which has a step in
//!    order within: see [`merganser_inflate::parallel`]); count lines.
//! 3. *join*, in the order of the tickets and in time that does not depend on the chunk's size:
//!    put before it what the chunk before left over, keep what is incomplete for the next one. As
//!    lines have been counted, the beginning of a FASTQ record is known and never guessed; records
//!    of BAM say their size.
//!
//! SAM and BAM are then made FASTQ, in parallel again. Containers of CRAM are fetched whole, and made
//! FASTQ where others are inflated.

mod errors;
mod expand;
mod fetch;
mod join;
mod lines;
mod options;
mod pipe;
mod sources;

pub use lines::{LineChunk, LineReader};
pub(crate) use options::USUAL_RECORD;
pub use options::{ReaderOptions, longest_record};

use crate::alignment::Formats;
use crate::failures::Failures;
use crate::input::{Input, check};
use crate::same::warn_of_repeats;
use crate::{Chunk, Error};
use fetch::{Fetched, Origin, Work};
use join::Carry;
use merganser_inflate::parallel::Plan;
use merganser_run::locks::{lock, wait};
use sources::Sources;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Tickets that failed are later places than all lines.
const AFTER_ALL_LINES: u64 = 1 << 63;

/// Hands out the text of its inputs chunk by chunk, to any number of workers at once.
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
}

/// What a chunk was refilled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Text,
    /// Nothing: what was read is part of a record that is longer than chunks.
    Nothing,
    /// Nothing, and never again.
    End,
}

/// Where the chunks of one file are put in order.
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
    /// Chunks handed out.
    handed: u64,
    carry: Carry,
    /// The ticket that failed: those after it have no turn.
    failed: Option<u64>,
}

impl ChainState {
    /// Whether the turn of `ticket` will not come.
    fn has_failed_before(&self, ticket: u64) -> bool {
        self.failed.is_some_and(|failed| failed < ticket)
    }
}

impl Reader {
    /// A reader of `inputs`, which are read in about their order, `options.workers` of them at a
    /// time. Nothing is read yet, but every input is looked at.
    ///
    /// # Errors
    ///
    /// If an input does not exist, is a directory, or may not be read.
    pub fn open<F: Formats>(inputs: &[Input], options: ReaderOptions<F>) -> Result<Self, Error> {
        let options = options.of_any();
        let plan = options.plan();
        Self::open_with(inputs, options, plan)
    }

    /// As [`open`](Self::open), but gzip files are inflated in ranges of about `range` bytes
    /// whatever their size and the number of workers: for tests, which have small files.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
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

    /// A reader of anything that can be read: each reader with its name for messages. They may be
    /// compressed as files may.
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
        }
    }

    /// Refills `chunk` with the next text; `false` when everything is read or the reader was
    /// stopped. Any number of workers call it at the same time, each with its own chunk. It waits
    /// for slow inputs, which [`stop`](Self::stop) cannot interrupt.
    ///
    /// # Errors
    ///
    /// If an input cannot be read or decompressed, or is neither FASTA nor FASTQ. All other
    /// workers then get `false`, once they have what was fetched before; of a gzip file that is
    /// inflated in ranges, at once.
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

    /// As [`next_chunk`](Self::next_chunk), but comes back while a record is collected that is longer
    /// than chunks, so that the caller can choose who goes on. The chunk's source bytes are added up.
    pub(crate) fn next_part(&self, chunk: &mut Chunk) -> Result<Next, Error> {
        // Should this worker panic, nobody must wait for its ticket.
        let guard = StopOnPanic(self);
        chunk.failures = Arc::clone(&self.failures);
        (chunk.phred, chunk.of_alignments) = (self.options.phred, false);
        chunk.warnings = self.options.warnings.clone();
        (chunk.text.start, chunk.text.end, chunk.format, chunk.mates) = (0, 0, None, None);
        let result = self.next_text(chunk);
        std::mem::forget(guard);
        result
    }

    fn next_text(&self, chunk: &mut Chunk) -> Result<Next, Error> {
        if let Some(mut lease) = self.sources.take(&self.stopped) {
            let file = lease.file();
            chunk.file = file;
            chunk.name = Arc::clone(&self.names[file]);
            let mut fetched = lease
                .fetch(chunk, &self.options, &self.stopped)
                .map_err(|error| self.fail(file, lease.ticket(), false, error))?;
            let in_ranges = matches!(fetched.work, Work::Members(_));
            let ticket = fetched.ticket;
            let failed = |error| self.fail(file, ticket, in_ranges, error);
            self.bytes_read.fetch_add(fetched.source_bytes, Ordering::Relaxed);
            chunk.source_bytes += fetched.source_bytes;
            self.sources.put_back(lease, fetched.last);
            if self.stopped.load(Ordering::Acquire) {
                // The fetch may have been cut short, and must not pass for the end of the file.
                (chunk.text.start, chunk.text.end) = (0, 0);
                return Ok(Next::End);
            }
            let newlines = expand::expand(chunk, &mut fetched, &self.options, &self.stopped)
                .map_err(failed)?;
            let joined = self.join(chunk, &fetched, newlines).map_err(failed)?;
            if joined == Some(true) {
                let place = chunk.line + chunk.record;
                expand::to_fastq(chunk, &self.options).map_err(|error| {
                    self.stop();
                    self.failures.note(file, place, error)
                })?;
            }
            self.skipped.fetch_add(std::mem::take(&mut chunk.skipped), Ordering::Relaxed);
            match joined {
                Some(true) => return Ok(Next::Text),
                Some(false) => return Ok(Next::Nothing),
                None => {}
            }
        }
        (chunk.text.start, chunk.text.end) = (0, 0);
        Ok(Next::End)
    }

    /// Waits for the chunk's turn and joins it to the one before. `None` if the reader was stopped
    /// in the meantime, `Some(false)` if no text is left in the chunk.
    fn join(
        &self,
        chunk: &mut Chunk,
        fetched: &Fetched,
        newlines: u64,
    ) -> Result<Option<bool>, Error> {
        let chain = &self.chains[chunk.file];
        let mut state = lock(&chain.state);
        while state.ticket != fetched.ticket {
            if self.stopped.load(Ordering::Acquire) || state.has_failed_before(fetched.ticket) {
                return Ok(None);
            }
            state = wait(&chain.changed, state);
        }
        fetched.check(chunk)?;
        let text = state.carry.join(chunk, newlines, fetched.last, &self.options);
        // Whatever is wrong with its last record comes of that.
        if (fetched.cut || fetched.ends_early) && state.carry.is_bam() {
            return Err(Error::NoEndBlock { input: chunk.name.to_string() });
        }
        let text = text?;
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
        Ok(Some(text))
    }

    /// Nothing is fetched any more; what was fetched before `ticket` is handed out, but for ranges
    /// of gzip files, which wait for each other in their own way.
    fn fail(&self, file: usize, ticket: u64, in_ranges: bool, error: Error) -> Error {
        // Malformed records before the place where reading failed come first.
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

    /// The sum of the inputs' sizes on disk in bytes, if all are regular files.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// How many bytes on disk were consumed so far, for progress.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// How many records of SAM, BAM and CRAM files were passed over so far: secondary and supplementary
    /// alignments (flags 0x900), whose reads stand in another record.
    pub fn skipped_alignments(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Ends the reading: every call of [`next_chunk`](Self::next_chunk), those that wait now
    /// included, returns `false`. For an error elsewhere, or Ctrl-C.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.sources.wake_all();
        for chain in &self.chains {
            // Under the lock, so that nobody is between looking at the flag and waiting.
            let _state = lock(&chain.state);
            chain.changed.notify_all();
        }
    }

    /// The error to report when workers failed and `error` was the first in time: the one that is
    /// first in the inputs. One misplaced line makes all later chunks of a FASTQ file look wrong,
    /// and another worker may have been faster to say so. To be called when all workers have ended.
    pub fn earliest_error(&self, error: Error) -> Error {
        self.failures.earliest().unwrap_or(error)
    }

    /// The inputs' names, as messages show them.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }
}

/// Warns of BGZF text that has no empty block at its end. Some programs write none.
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
