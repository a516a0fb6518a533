//! Cuts a file into ranges, or reads its text as a stream where ranges do not work.

use super::plan::{LARGE_RATIO, Plan};
use super::segment::{Decoding, Ended};
use super::{Piece, Ranges, Sizes, Stream, lock};
use crate::deflate::Inflate;
use crate::{Error, Text};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A range of the file that is still to be decoded.
pub(super) struct Range {
    pub(super) number: u64,
    pub(super) episode: u64,
    /// The first and the end bit of the range.
    pub(super) bits: std::ops::Range<u64>,
    /// The decoder at the start of the range, if it is the first after a stream or of the file.
    pub(super) known: Option<Stream>,
}

/// Cuts a gzip file into pieces.
pub struct Cutter {
    ranges: Arc<Ranges>,
    plan: Plan,
    length: u64,
    /// The offset of the next range, in bytes.
    next: u64,
    /// The number of the next range.
    number: u64,
    episode: u64,
    /// The decoder at the start of the next range, if it is known.
    known: Option<Stream>,
    /// The decoder, while the file is read as a stream.
    stream: Option<Stream>,
    /// The minimum number of pieces that are still read as a stream.
    pieces: u32,
    counted: u64,
}

impl std::fmt::Debug for Cutter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cutter").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// The number of pieces that are read as a stream the first time.
const PIECES: u32 = 4;

impl Cutter {
    /// Returns a cutter of a gzip file of `length` bytes.
    pub fn new(file: File, length: u64, plan: Plan) -> Self {
        Self {
            ranges: Arc::new(Ranges::new(file, plan)),
            plan,
            length,
            next: 0,
            number: 0,
            episode: 0,
            known: Some(Stream { inflate: Inflate::file(), window: Vec::new() }),
            stream: None,
            pieces: 0,
            counted: 0,
        }
    }

    /// Returns the next piece and whether it is the last: a range, or a piece of the stream, whose text then is in
    /// `text`. Adds the number of consumed bytes of the file to `count`. Waits for the workers that expand earlier
    /// ranges before it switches to a stream or ends.
    ///
    /// # Errors
    /// If reading the file fails.
    pub fn next(
        &mut self,
        text: &mut Text,
        sizes: Sizes,
        stopped: &AtomicBool,
        count: &AtomicU64,
    ) -> Result<(Piece, bool), Error> {
        (text.start, text.end) = (0, 0);
        self.look();
        if self.stream.is_none() && self.next >= self.length {
            // Only when all ranges have been decoded is it known whether reading must switch to a stream.
            drop(self.ranges.wait(self.number, stopped));
            self.look();
        }
        let (range, last) = match self.stream.take() {
            Some(stream) => (None, self.piece(text, stream, sizes, stopped)?),
            None if self.next < self.length => (Some(self.range()), false),
            None => {
                text.gzip.ends.clear();
                (None, true)
            }
        };
        let reached = if last { self.length } else { self.next.min(self.length) };
        count.fetch_add(reached.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = self.counted.max(reached);
        Ok((Piece { ranges: Arc::clone(&self.ranges), range }, last))
    }

    /// Takes over the decoder if a range switched to a stream.
    fn look(&mut self) {
        let mut state = lock(&self.ranges.state);
        if let Some(stream) = state.stream.take() {
            self.stream = Some(stream);
            self.pieces = PIECES << state.episode.min(8);
            self.episode = state.episode;
        }
    }

    fn range(&mut self) -> Range {
        let start = self.next;
        self.next = (start + self.plan.range).min(self.length);
        let end = if self.next == self.length { u64::MAX } else { 8 * self.next };
        self.number += 1;
        Range {
            number: self.number - 1,
            episode: self.episode,
            bits: 8 * start..end,
            known: self.known.take(),
        }
    }

    /// Decodes the next piece of the stream into `text`; returns whether it is the last.
    fn piece(
        &mut self,
        text: &mut Text,
        stream: Stream,
        sizes: Sizes,
        stopped: &AtomicBool,
    ) -> Result<bool, Error> {
        let before = stream.inflate.position();
        let plan = Plan { limit: sizes.text.min(self.plan.limit), ..self.plan };
        let decoding = Decoding { sizes, stopped, file: &self.ranges.file, plan };
        let segment = decoding.known(text, stream, u64::MAX)?;
        let markers = text.gzip.window.get_or_insert_default();
        let window = segment.symbols.tail(&text.buffer, markers);
        segment.symbols.show(text);
        let inflate = match segment.ended {
            Ended::Full(inflate) => inflate,
            Ended::Damaged(error) => {
                text.gzip.damage = Some(error);
                return Ok(true);
            }
            Ended::AtBlock(_) | Ended::WithFile => return Ok(true),
        };
        let stream = Stream { inflate: *inflate, window };
        let after = stream.inflate.position();
        self.next = after / 8;
        self.pieces = self.pieces.saturating_sub(1);
        // Continue with ranges when the compression ratio is ordinary again. At the end of the file, only the stream tells whether
        // the data are complete.
        let ordinary = (after - before) / 8 * LARGE_RATIO >= text.len() as u64;
        if self.pieces == 0 && ordinary && self.next < self.length {
            self.known = Some(stream)
        } else {
            self.stream = Some(stream)
        }
        Ok(false)
    }
}
