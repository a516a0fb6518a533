//! Reading of reads and pairs, a batch at a time, by any number of workers.
//!
//! Workers fetch and parse chunks of the open files in parallel ([`Reader`]). Under a lock, and in a time that does
//! not depend on the number of records, chunks are queued in the order of their file, and batches are cut from the
//! heads of the queues. So the records of a batch depend only on the inputs. The worker that takes a batch then
//! gathers its records, with mates next to each other, and compares the names of mates if names are kept.

mod batch;
mod cut;
mod iter;
mod long;
mod mates;
mod needs;
mod options;
mod record;
mod segment;
mod share;
mod side;
mod text;
mod walk;

pub use batch::RecordBatch;
pub use iter::{OwnedRecord, RecordIter};
pub(crate) use mates::{FirstMate, Sureness, likely_mates};
pub use mates::{Unmated, are_mates, common_name, stem};
pub use needs::Needs;
pub use options::RecordOptions;
pub use record::{Header, Keep, Record};
pub use segment::ReadInput;
pub(crate) use segment::refuse_own_mates;
pub use share::ReadShare;
pub use text::Stretch;
pub use walk::{batch_starts, walk};

use crate::alignment::Formats;
use crate::input::check;
use crate::reader::Next;
use crate::same::warn_of_repeats;
use crate::{Chunk, Error, Reader};
use cut::{Cut, Open};
use long::Room;
use merganser_run::locks::{lock, wait, wait_timeout};
use side::Parsed;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use text::{Pieces, Text};

/// The time that all workers spent, summed over the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordTimes {
    /// The time for reading and inflating, including waiting for the turn of a chunk.
    pub reading: Duration,
    /// The time for parsing text into records.
    pub parsing: Duration,
    /// The time for gathering batches.
    pub gathering: Duration,
    /// The time for waiting for chunks of other workers.
    pub waiting: Duration,
}

/// A reader that returns the records of its segments, batch by batch, to any number of workers at once.
pub struct Records {
    options: RecordOptions,
    bytes_total: Option<u64>,
    state: Mutex<InputCursor>,
    changed: Condvar,
    room: Room,
    clocks: [AtomicU64; 4],
}

struct InputCursor {
    segments: VecDeque<ReadInput>,
    /// The number of segments that were opened.
    opened: usize,
    open: Option<Open>,
    /// The number of batches returned so far.
    batches: u64,
    /// The number of reads in these batches and before them; a pair counts as one.
    reads: u64,
    /// The number of alignments that were skipped in segments that have ended.
    skipped: u64,
    /// Whether nothing more is returned.
    ended: bool,
    /// Unused texts, kept to reuse their memory.
    spare: Vec<Text>,
}

/// A file of the open segment.
struct RecordFile {
    reader: Reader,
    name: Arc<str>,
}

impl Records {
    /// Opens the inputs. Every input is checked at once, so that a missing input ends a run before it begins; files
    /// are opened one segment after the other.
    ///
    /// # Errors
    /// If an input does not exist, is a directory, or is not readable; if a file is given as its own mate.
    pub fn open<F: Formats>(
        reads: impl IntoIterator<Item = impl Into<ReadInput>>,
        options: RecordOptions<F>,
    ) -> Result<Records, Error> {
        let segments: &[ReadInput] = &reads.into_iter().map(Into::into).collect::<Vec<_>>();
        let options = options.of_any();
        let inputs = || segments.iter().flat_map(ReadInput::inputs);
        let sizes = inputs().map(check).collect::<Result<Vec<_>, _>>()?;
        if !options.unrelated {
            refuse_own_mates(segments)?;
            warn_of_repeats(inputs(), &options.warnings);
        }
        options.phred.warn_of_alignments(inputs(), &options.warnings);
        let options = RecordOptions {
            batch_records: options.batch_records.max(1),
            workers: options.workers.max(1),
            ..options
        };
        let state = InputCursor {
            segments: segments.iter().cloned().collect(),
            opened: 0,
            open: None,
            batches: 0,
            reads: 0,
            skipped: 0,
            ended: false,
            spare: Vec::new(),
        };
        Ok(Records {
            options,
            bytes_total: sizes.into_iter().sum(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            room: Room::default(),
            clocks: Default::default(),
        })
    }

    /// Returns the size of the inputs on disk in bytes, if all are regular files.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Returns the number of SAM, BAM and CRAM records that were skipped so far; see [`Reader::skipped_alignments`].
    pub fn skipped_alignments(&self) -> u64 {
        let state = lock(&self.state);
        state.skipped + state.open.as_ref().map_or(0, Open::skipped)
    }

    /// Ends the reading: nothing more is returned, and waiting calls return `None`.
    pub fn stop(&self) {
        let mut state = lock(&self.state);
        self.end(&mut state);
    }

    /// Returns the times spent so far.
    pub fn times(&self) -> RecordTimes {
        let [reading, parsing, gathering, waiting] =
            [0, 1, 2, 3].map(|at| Duration::from_nanos(self.clocks[at].load(Ordering::Relaxed)));
        RecordTimes { reading, parsing, gathering, waiting }
    }

    /// Refills `batch` with the next records, all of one segment. Returns the number of bytes on disk that were
    /// read during the call, for any batch; `None` at the end, or after [`stop`](Self::stop) or a cancellation.
    ///
    /// Any number of workers may call it at the same time, each with its own batch.
    ///
    /// # Errors
    /// If an input cannot be read, or if mates are out of step. All batches before the fault are returned, and
    /// [`RecordBatch::number`] is the number that this batch would have had. So the error with the smallest number
    /// is the first in the input. The batch then contains the records before the fault that are in no other batch.
    pub fn next(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        if batch.is_long() {
            batch.clear();
            // Others may be waiting for this long record to be freed.
            let state = lock(&self.state);
            self.changed.notify_all();
            drop(state);
        }
        batch.clear();
        // If this worker panics, the others must not wait for its chunk.
        let guard = StopOnPanic(self);
        let result = self.next_batch(batch);
        std::mem::forget(guard);
        result
    }

    fn next_batch(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        let mut source_bytes = 0;
        let mut state = lock(&self.state);
        while !state.ended {
            let room = self.options.overlapping || self.room.is_free();
            let cut = state.cut(batch, &self.options, room);
            let cut = cut.inspect_err(|_| self.end(&mut state))?;
            let (file, side, mut text) = match cut {
                Cut::Batch(pieces) => {
                    if pieces.bytes() > self.options.usual_bytes() {
                        batch.long = Some(self.room.permit());
                    }
                    drop(state);
                    self.changed.notify_all();
                    return self.gather(batch, pieces).map(|()| Some(source_bytes));
                }
                Cut::Fetch { file, side } => (file, side, state.spare.pop().unwrap_or_default()),
                Cut::Wait => {
                    let begun = Instant::now();
                    state = self.wait(state, room);
                    self.spend(3, begun);
                    continue;
                }
                Cut::End => {
                    self.end(&mut state);
                    break;
                }
            };
            drop(state);
            let parsed = self.parse(&file, &mut batch.chunk, &mut text);
            source_bytes += batch.chunk.source_bytes();
            state = lock(&self.state);
            // After a fault the text is not needed.
            let ended = state.ended;
            if let Some(open) = state.open.as_mut().filter(|_| !ended) {
                open.deliver(side, parsed, text);
            }
            self.changed.notify_all();
        }
        Ok(None)
    }

    /// Fetches and parses a chunk. Several workers may do so in parallel.
    fn parse(&self, file: &RecordFile, chunk: &mut Chunk, text: &mut Text) -> Parsed {
        text.clear();
        chunk.source_bytes = 0;
        let begun = Instant::now();
        let fetched = file.reader.next_part(chunk);
        let begun = self.spend(0, begun);
        match fetched {
            Ok(Next::Nothing) => Parsed::Nothing,
            Ok(Next::Text) => {
                let fault = text.parse(chunk, self.options.keep).err();
                chunk.shrink(8 * self.options.chunk_bytes);
                self.spend(1, begun);
                let goes_on = chunk.format == Some(crate::format::Format::Fasta);
                Parsed::Chunk { ordinal: chunk.ordinal(), goes_on, fault }
            }
            Ok(Next::End) => Parsed::End(None),
            Err(error) => Parsed::End(Some(error)),
        }
    }

    /// Gathers the records of a batch.
    fn gather(&self, batch: &mut RecordBatch, mut pieces: Pieces) -> Result<(), Error> {
        let begun = Instant::now();
        batch.any_names = self.options.any_names || self.options.unrelated;
        let gathered = batch.gather(&mut pieces);
        let mut state = lock(&self.state);
        state.keep_spare(pieces, &self.options);
        if gathered.is_err() {
            self.end(&mut state);
        }
        drop(state);
        self.spend(2, begun);
        gathered
    }

    /// Waits for a change. Without `room`, it waits for a limited time, because dropping a batch notifies no one.
    fn wait<'s>(
        &self,
        state: MutexGuard<'s, InputCursor>,
        room: bool,
    ) -> MutexGuard<'s, InputCursor> {
        if room {
            return wait(&self.changed, state);
        }
        wait_timeout(&self.changed, state, long::PATIENCE)
    }

    fn spend(&self, clock: usize, begun: Instant) -> Instant {
        let now = Instant::now();
        let spent = now.duration_since(begun).as_nanos() as u64;
        self.clocks[clock].fetch_add(spent, Ordering::Relaxed);
        now
    }

    fn end(&self, state: &mut InputCursor) {
        state.ended = true;
        state.segments.clear();
        if let Some(open) = &state.open {
            open.stop();
        }
        self.changed.notify_all();
    }
}

impl InputCursor {
    /// Decides the next step: a batch to gather, a chunk to fetch, or waiting. With an error, `batch` has the
    /// number that its batch would have had.
    fn cut(
        &mut self,
        batch: &mut RecordBatch,
        options: &RecordOptions,
        room: bool,
    ) -> Result<Cut, Error> {
        loop {
            batch.number = self.batches;
            if self.reads >= options.reads.end {
                self.open.iter().for_each(|open| open.warn(options));
                return Ok(Cut::End);
            }
            if self.open.is_none() {
                let Some(segment) = self.segments.pop_front() else { return Ok(Cut::End) };
                self.opened += 1;
                self.open = Some(Open::new(&segment, self.opened - 1, options)?);
            }
            let Some(open) = &mut self.open else { return Ok(Cut::End) };
            match open.cut(options, self.reads, room)? {
                Cut::Batch(pieces) => {
                    let first = self.reads;
                    self.reads += open.describe(&pieces, batch);
                    if first < options.reads.start {
                        self.keep_spare(pieces, options);
                        continue;
                    }
                    (batch.first, batch.segment) = (first, self.opened - 1);
                    self.batches += 1;
                    return Ok(Cut::Batch(pieces));
                }
                Cut::End => {
                    // A stopped reader looks like one that has ended.
                    if options.cancel.is_cancelled() {
                        return Ok(Cut::End);
                    }
                    self.skipped += open.skipped();
                    open.warn(options);
                    self.open = None;
                }
                other => return Ok(other),
            }
        }
    }

    /// Keeps the memory of texts that are no longer used; the last user of a text returns it. Single records that
    /// were cut off at the end of a chunk are too small to keep, and very long records must not keep their memory.
    fn keep_spare(&mut self, pieces: Pieces, options: &RecordOptions) {
        let chunk = options.chunk_bytes;
        let worth = |text: &Text| (chunk / 4..=8 * chunk).contains(&text.room());
        self.spare.extend(pieces.into_spare().filter(worth));
        self.spare.truncate(2 * options.workers + 2);
    }
}

struct StopOnPanic<'a>(&'a Records);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl merganser_run::engine::Source for Records {
    type Batch = RecordBatch;
    type Error = Error;

    fn next(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        Records::next(self, batch)
    }

    fn number(batch: &RecordBatch) -> u64 {
        batch.number()
    }

    fn is_long(&self, batch: &RecordBatch) -> bool {
        batch.is_long()
    }

    fn stop(&self, _number: u64) {
        Records::stop(self);
    }
}
