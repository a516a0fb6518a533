//! Inflates one gzip file with many workers. Each range of the file is
//!
//! 1. decoded by a worker, from the first block found in the range to the first block after the range. Workers do
//!    this in parallel;
//! 2. joined to the range before, in the order of the ranges, which takes little time: the range must begin where the
//!    one before ended, and the last 32 KiB of text are passed on. If no block or a wrong one was found, the range is
//!    decoded again here. This is rare: there is a dynamic block in every few tens of KiB of compressed text, and a
//!    wrong position is taken for a block about once in 10^9 bits;
//! 3. converted to text with the text before it, and its checksums are computed. Workers do this in parallel.
//!
//! The checksums are compared when the text is consumed, in order ([`Piece::check`]).
//!
//! Text that is compressed to less than a twelfth of its size (runs of one letter) would exceed the memory of a
//! range. It is decoded as a stream, by one worker at a time, at the speed of a copy. Ranges continue after it.

mod cutter;
mod plan;
mod raw;
mod segment;
#[cfg(test)]
mod tests;

pub use cutter::Cutter;
pub use plan::Plan;

use crate::deflate::{Inflate, Sums, parts};
use crate::{Error, Text};
use cutter::Range;
use segment::{DecodedRange, Decoding, Ended};
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The sizes of pieces of text.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The approximate number of bytes of text in a piece, at least 1.
    pub text: usize,
    /// The number of free bytes before the text.
    pub headroom: usize,
}

/// A piece of a file: a range that must be decoded, or text whose checksums must be computed.
pub struct Piece {
    ranges: Arc<Ranges>,
    range: Option<Range>,
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let range = self.range.as_ref().map(|range| range.number);
        formatter.debug_struct("Piece").field("range", &range).finish_non_exhaustive()
    }
}

impl Piece {
    /// Decodes this piece into `text`, unless it already has text, and computes its checksums. `text` must be the
    /// buffer that was passed to [`Cutter::next`]. Calls `each` with stretches of the text in order, while they are
    /// still in the processor's cache. Workers call this in parallel, each for its own piece. Once `stopped` is set,
    /// the text may be empty.
    ///
    /// # Errors
    /// If reading the file fails.
    pub fn expand(
        &mut self,
        text: &mut Text,
        sizes: Sizes,
        stopped: &AtomicBool,
        each: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        self.ranges.expand(text, self.range.take(), sizes, stopped, each)
    }

    /// Compares the checksums of members that end in the text, and reports other errors in the data. Call it in the
    /// order of the pieces, so that the first error is the one that a stream would report.
    ///
    /// # Errors
    /// If the data are invalid or truncated, or if a checksum is wrong.
    pub fn check(&self, text: &mut Text) -> Result<(), Error> {
        self.ranges.check(text)
    }
}

/// The state that the workers on a file share.
struct Ranges {
    file: File,
    plan: Plan,
    state: Mutex<NextRange>,
    changed: Condvar,
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct NextRange {
    /// The number of the range that is joined next.
    next: u64,
    /// The number of times that reading switched from ranges to a stream.
    episode: u64,
    /// The bit of the file at which the next range must begin.
    end: u64,
    /// The text before `end`, as far as matches can reach.
    window: Vec<u8>,
    /// Whether the readable part of the file ends at `end`.
    finished: bool,
    /// The decoder that continues as a stream, if reading has switched to one.
    stream: Option<Stream>,
}

/// A decoder with the text before its position.
struct Stream {
    inflate: Inflate,
    window: Vec<u8>,
}

/// The polling interval of workers that wait for their turn, to notice that the reader was stopped.
const PATIENCE: Duration = Duration::from_millis(50);

impl Ranges {
    fn new(file: File, plan: Plan) -> Self {
        Self {
            file,
            plan,
            state: Mutex::default(),
            changed: Condvar::new(),
            sums: Mutex::default(),
        }
    }

    fn expand(
        &self,
        text: &mut Text,
        range: Option<Range>,
        sizes: Sizes,
        stopped: &AtomicBool,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        match range {
            Some(range) => self.decode(text, range, sizes, stopped, &mut each)?,
            None => each(text.bytes()),
        }
        text.gzip.parts = parts(text.bytes(), &text.gzip.ends);
        Ok(())
    }

    fn check(&self, text: &mut Text) -> Result<(), Error> {
        let result = lock(&self.sums).add(&text.gzip.parts).map_err(Error::from);
        text.gzip.parts.clear();
        result.and(text.gzip.damage.take().map_or(Ok(()), Err))
    }

    fn decode(
        &self,
        text: &mut Text,
        range: Range,
        sizes: Sizes,
        stopped: &AtomicBool,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let Range { number, episode, bits, known } = range;
        let decoding = Decoding { sizes, stopped, file: &self.file, plan: self.plan };
        let found = match known {
            Some(stream) => Some(decoding.known(text, stream, bits.end)?),
            None => decoding.search(text, bits.clone())?,
        };
        let Some(state) = self.wait(number, stopped) else {
            nothing(text);
            return Ok(());
        };
        // Only the worker whose turn it is changes this state, so the lock can be released.
        let (end, window) = (state.end, state.window.clone());
        let given_up = state.episode != episode || state.finished;
        drop(state);
        let segment = match found.filter(|segment| segment.follows(end)) {
            _ if given_up => None,
            Some(segment) => Some(segment),
            // A single block covers the whole range.
            None if end >= bits.end => None,
            None => {
                let stream = Stream { inflate: Inflate::block(end), window: window.clone() };
                Some(decoding.known(text, stream, bits.end)?)
            }
        };
        let Some(DecodedRange { symbols, ended, .. }) = segment else {
            self.pass(None);
            nothing(text);
            return Ok(());
        };
        let markers = text.gzip.window.get_or_insert_default();
        markers.set(&window);
        let tail = symbols.tail(&text.buffer, markers);
        text.gzip.damage = self.pass(Some((ended, tail)));
        symbols.into_text(text, each);
        Ok(())
    }

    /// Waits for the turn of range `number`; returns `None` if the reader was stopped.
    fn wait(&self, number: u64, stopped: &AtomicBool) -> Option<MutexGuard<'_, NextRange>> {
        let mut state = lock(&self.state);
        loop {
            if stopped.load(Ordering::Acquire) {
                return None;
            }
            if state.next == number {
                return Some(state);
            }
            state = wait_timeout(&self.changed, state, PATIENCE);
        }
    }

    /// Ends the turn of a range and stores where its text ended. Returns the error in the data at that point, if any.
    fn pass(&self, reached: Option<(Ended, Vec<u8>)>) -> Option<Error> {
        let (mut state, mut damage) = (lock(&self.state), None);
        if let Some((ended, window)) = reached {
            match ended {
                Ended::AtBlock(end) => (state.end, state.window) = (end, window),
                Ended::WithFile => state.finished = true,
                Ended::Damaged(error) => (state.finished, damage) = (true, Some(error)),
                Ended::Full(inflate) => {
                    state.episode += 1;
                    state.stream = Some(Stream { inflate: *inflate, window });
                }
            }
        }
        state.next += 1;
        drop(state);
        self.changed.notify_all();
        damage
    }
}

/// Makes the text empty.
fn nothing(text: &mut Text) {
    text.gzip.ends.clear();
    (text.start, text.end) = (0, 0);
}

/// Locks a mutex, even if a thread panicked while holding it: the state is valid at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a change, but at most for `most`.
fn wait_timeout<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    most: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}
