//! One gzip file, inflated by many workers. A range of it is handed out at each fetch, and then
//!
//! 1. decoded by its worker from the first block that it finds there to the first one behind the
//!    range, in parallel;
//! 2. joined to the range before, in the order of the ranges and in a short time: does it begin
//!    where the other one ended? What are the last 32 KiB of its text? A range that was not found
//!    or not found right is decoded again here, which is rare: there is a dynamic block in some
//!    tens of KiB of compressed text, and the wrong place passes for one once in 10^9 bits;
//! 3. made text with what the range before left, and summed up, in parallel again.
//!
//! The checksums are compared when the text comes to its turn in the reader.
//!
//! Text that is compressed to less than a twelfth (runs of one letter) would need more memory than
//! there is for a range. It is decoded as a stream, by one worker at a time, at the rate of a copy;
//! ranges go on behind it.

mod cutter;
mod raw;
mod segment;
#[cfg(test)]
mod tests;

pub(super) use cutter::{Cutter, Plan, Range};

use super::ReaderOptions;
use super::errors::decode_error;
use super::shared::count_lines;
use crate::compress::Compression;
use crate::compress::deflate::{Inflate, MemberEnd, Part, Sums, Window, parts};
use crate::{Chunk, Error};
use merganser_run::locks::{lock, wait_timeout};
use segment::{Decoding, Ended, Segment};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// What a chunk keeps for ranges of a gzip file, so that its memory is taken once.
#[derive(Default)]
pub(crate) struct GzipRange {
    ends: Vec<MemberEnd>,
    parts: Vec<Part>,
    window: Option<Window>,
    /// What is wrong with the data behind the text.
    damage: Option<io::Error>,
}

/// What the workers on one file share.
pub(super) struct Ranges {
    file: File,
    plan: Plan,
    state: Mutex<State>,
    changed: Condvar,
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct State {
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

/// How often those who wait for their turn look whether the reader was stopped.
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

    /// Puts the text of `range`, or what has been put there already, into the chunk with the parts
    /// of its sums, and returns the number of its line ends.
    pub(super) fn expand(
        &self,
        chunk: &mut Chunk,
        range: Option<Range>,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> Result<u64, Error> {
        let name = chunk.name.clone();
        let newlines = match range {
            Some(range) => self
                .decode(chunk, range, options, stopped)
                .map_err(|error| decode_error(&name, Compression::Gzip, &error))?,
            None => count_lines(chunk.text()),
        };
        chunk.gzip.parts = parts(chunk.text(), &chunk.gzip.ends);
        Ok(newlines)
    }

    /// Compares checksums as far as members end in this chunk, and says what else was wrong. To be
    /// called in the order of the text: then the first error is the one that a stream would meet.
    pub(super) fn check(&self, chunk: &mut Chunk) -> Result<(), Error> {
        let result = lock(&self.sums).add(&chunk.gzip.parts).map_err(io::Error::from);
        chunk.gzip.parts.clear();
        result
            .and(chunk.gzip.damage.take().map_or(Ok(()), Err))
            .map_err(|error| decode_error(&chunk.name, Compression::Gzip, &error))
    }

    fn decode(
        &self,
        chunk: &mut Chunk,
        range: Range,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> io::Result<u64> {
        let Range { number, episode, bits, known } = range;
        let decoding = Decoding { options, stopped, file: &self.file, plan: self.plan };
        let found = match known {
            Some(stream) => Some(decoding.known(chunk, stream, bits.end)?),
            None => decoding.search(chunk, bits.clone())?,
        };
        let Some(state) = self.wait(number, stopped) else { return Ok(nothing(chunk)) };
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
                Some(decoding.known(chunk, stream, bits.end)?)
            }
        };
        let Some(Segment { symbols, ended, .. }) = segment else {
            self.pass(None);
            return Ok(nothing(chunk));
        };
        let markers = chunk.gzip.window.get_or_insert_default();
        markers.set(&window);
        let tail = symbols.tail(&chunk.buffer, markers);
        chunk.gzip.damage = self.pass(Some((ended, tail)));
        Ok(symbols.into_text(chunk))
    }

    /// Waits for the turn of range `number`; `None` if the reader was stopped.
    fn wait(&self, number: u64, stopped: &AtomicBool) -> Option<MutexGuard<'_, State>> {
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
    fn pass(&self, reached: Option<(Ended, Vec<u8>)>) -> Option<io::Error> {
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
fn nothing(chunk: &mut Chunk) -> u64 {
    chunk.gzip.ends.clear();
    (chunk.start, chunk.end) = (0, 0);
    0
}
