//! One gzip file, inflated by many workers. A range of it is handed out at a time, and then
//!
//! 1. decoded by its worker from the first block that it finds there to the first one behind the
//!    range, in parallel;
//! 2. joined to the range before, in the order of the ranges and in a short time: does it begin
//!    where the other one ended? What are the last 32 KiB of its text? A range that was not found
//!    or not found right is decoded again here, which is rare: there is a dynamic block in some
//!    tens of KiB of compressed text, and the wrong place passes for one once in 10^9 bits;
//! 3. made text with what the range before left, and summed up, in parallel again.
//!
//! The checksums are compared when the text comes to its turn in the reader ([`Piece::check`]).
//!
//! Text that is compressed to less than a twelfth (runs of one letter) would need more memory than
//! there is for a range. It is decoded as a stream, by one worker at a time, at the rate of a copy;
//! ranges go on behind it.

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

/// The size of the pieces of text.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of text that a piece has, about; at least 1.
    pub text: usize,
    /// Bytes of room before it.
    pub headroom: usize,
}

/// A piece of a file: a range, to be decoded, or text that is there but for its sums.
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
    /// Puts the text of this piece, if it is not there yet, into `text`, which [`Cutter::next`] had for it, with the parts
    /// of its sums. Calls `each` with stretches of the text in order, as long as the processor's cache has them. Workers
    /// call it side by side, each for its own piece; once `stopped` is set, there may be no text.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn expand(
        &mut self,
        text: &mut Text,
        sizes: Sizes,
        stopped: &AtomicBool,
        each: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        self.ranges.expand(text, self.range.take(), sizes, stopped, each)
    }

    /// Compares checksums as far as members end in the text, and says what else was wrong. To be
    /// called in the order of the pieces: then the first error is the one that a stream would meet.
    ///
    /// # Errors
    /// If the data are not valid, end too early, or a checksum is wrong.
    pub fn check(&self, text: &mut Text) -> Result<(), Error> {
        self.ranges.check(text)
    }
}

/// The state that the workers on one file share.
struct Ranges {
    file: File,
    plan: Plan,
    state: Mutex<NextRange>,
    changed: Condvar,
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct NextRange {
    /// The number of the range whose turn it is.
    next: u64,
    /// How often the reading as ranges was given up.
    episode: u64,
    /// In bits, where the next range must begin.
    end: u64,
    /// The text before that place, as far as matches may reach.
    window: Vec<u8>,
    /// The file ends there, or what can be read of it.
    finished: bool,
    /// Reading as ranges was given up here.
    stream: Option<Stream>,
}

/// A decoder that knows the text before.
struct Stream {
    inflate: Inflate,
    window: Vec<u8>,
}

/// Polling interval of workers that wait for their turn: the reader may have been stopped.
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
        // What is kept here nobody changes but who has the turn.
        let (end, window) = (state.end, state.window.clone());
        let given_up = state.episode != episode || state.finished;
        drop(state);
        let segment = match found.filter(|segment| segment.follows(end)) {
            _ if given_up => None,
            Some(segment) => Some(segment),
            // One block reaches from before the range to behind it.
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

    /// Waits for the turn of range `number`; `None` if the reader was stopped.
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

    /// Hands the turn on, with what is known now about the end of the text. Returns what is wrong
    /// there, if anything.
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

/// A range without text of its own.
fn nothing(text: &mut Text) {
    text.gzip.ends.clear();
    (text.start, text.end) = (0, 0);
}

/// Locks a mutex, whoever panicked: every state is valid at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something changed, or this long.
fn wait_timeout<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    most: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}
