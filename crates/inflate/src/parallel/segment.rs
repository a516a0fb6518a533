//! Decodes a range from a block, whether the text before it is known or not.

use super::raw::Raw;
use super::{Plan, Sizes, Stream, nothing};
use crate::deflate::{Inflate, Output, SLACK, Stop, WINDOW, Window, markers};
use crate::text::GzipRange;
use crate::{Error, Text};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The settings and the file for decoding ranges.
pub(super) struct Decoding<'a> {
    pub(super) sizes: Sizes,
    pub(super) stopped: &'a AtomicBool,
    pub(super) file: &'a File,
    pub(super) plan: Plan,
}

/// A decoded range.
pub(super) struct DecodedRange {
    /// The bit of the file where the range begins; `None` if this position is certain.
    begun: Option<u64>,
    pub(super) symbols: Symbols,
    pub(super) ended: Ended,
}

/// The place where decoding ended, and why.
pub(super) enum Ended {
    /// At a block at this bit of the file, where the next range should begin.
    AtBlock(u64),
    /// At the end of the file.
    WithFile,
    /// The output buffer is full.
    Full(Box<Inflate>),
    /// The data are invalid or end too early.
    Damaged(Error),
}

/// The decoded symbols in the buffer of a text.
pub(super) struct Symbols {
    /// The number of bytes per symbol; 1 if the text before is known.
    width: usize,
    start: usize,
    end: usize,
    /// The first byte that matches after these symbols may refer to.
    floor: usize,
}

/// The number of bytes of text that are converted at a time: few enough to stay in the L2 cache for their consumer.
const PIECE: usize = 256 * 1024;

/// The number of compressed bytes that are first read after a range: several blocks of common compressors.
const OVERLAP: usize = 64 * 1024;

impl Decoding<'_> {
    /// Decodes from the position of `stream` to the first block at or after bit `stop` that can be found by a search.
    pub(super) fn known(
        &self,
        text: &mut Text,
        stream: Stream,
        stop: u64,
    ) -> Result<DecodedRange, Error> {
        let Stream { mut inflate, window } = stream;
        let mut raw = self.read(text, inflate.position())?;
        let start = self.room::<1>(text);
        let floor = start - window.len();
        text.buffer[floor..start].copy_from_slice(&window);
        let mut symbols = Symbols { width: 1, start, end: start, floor };
        let ended = match self.run::<1>(&mut inflate, &mut raw, text, &mut symbols, stop) {
            Ok(stopped) => Ended::new(stopped, inflate),
            Err(error @ Error::Read(_)) => return Err(error),
            Err(error) => Ended::Damaged(error),
        };
        text.raw = raw.into_bytes();
        Ok(DecodedRange { begun: None, symbols, ended })
    }

    /// Searches a block among these bits of the file and decodes from there; returns `None` if no block was found.
    pub(super) fn search(
        &self,
        text: &mut Text,
        bits: std::ops::Range<u64>,
    ) -> Result<Option<DecodedRange>, Error> {
        let mut inflate = Inflate::block(bits.start);
        let mut from = bits.start;
        let mut raw = self.read(text, from)?;
        let mut found = None;
        while !self.stopped.load(Ordering::Relaxed)
            && let Some(begun) = raw.find(from..bits.end)
        {
            inflate.restart(begun);
            let start = self.room::<2>(text);
            let floor = start - 2 * WINDOW;
            markers(&mut text.buffer[floor..start]);
            let mut symbols = Symbols { width: 2, start, end: start, floor };
            match self.run::<2>(&mut inflate, &mut raw, text, &mut symbols, bits.end) {
                Ok(stopped) => {
                    let ended = Ended::new(stopped, inflate);
                    found = Some(DecodedRange { begun: Some(begun), symbols, ended });
                    break;
                }
                Err(error @ Error::Read(_)) => return Err(error),
                // No block, or damage: this is decided when the range is decoded again with the text before it.
                Err(_) => from = begun + 1,
            }
            if raw.begins_behind(from) {
                text.raw = raw.into_bytes();
                raw = self.read(text, from)?;
            }
        }
        text.raw = raw.into_bytes();
        Ok(found)
    }

    /// Reads the compressed bytes of a range from bit `at` of the file.
    fn read(&self, text: &mut Text, at: u64) -> io::Result<Raw> {
        let mut raw = Raw::at(at / 8, std::mem::take(&mut text.raw));
        raw.read(self.file, self.plan.range as usize + OVERLAP)?;
        Ok(raw)
    }

    /// Makes room for a range and the window before it; returns the start of the range.
    fn room<const W: usize>(&self, text: &mut Text) -> usize {
        text.gzip.ends.clear();
        let symbols = self.sizes.text.min(self.plan.limit);
        text.room(self.sizes.headroom + WINDOW * W, symbols * W + SLACK);
        text.start
    }

    /// Decodes into the buffer of `text`, up to the limit of the plan.
    fn run<const W: usize>(
        &self,
        inflate: &mut Inflate,
        raw: &mut Raw,
        text: &mut Text,
        symbols: &mut Symbols,
        stop: u64,
    ) -> Result<Stop, Error> {
        let Text { buffer, gzip: GzipRange { ends, .. }, .. } = text;
        let start = symbols.start;
        let most = start + self.plan.limit * W;
        loop {
            let capacity = most.min(buffer.len() - SLACK);
            let Symbols { end: at, floor, .. } = *symbols;
            let mut out = Output { buffer, start, at, floor, capacity, ends };
            let stopped = inflate.run::<W>(&raw.input(), &mut out, stop);
            (symbols.end, symbols.floor) = (out.at, out.floor);
            match stopped? {
                // The reader was stopped, so the result is not used: `Ranges::wait` looks at the flag later in this thread, and
                // a thread never sees an older value of a variable than before.
                _ if self.stopped.load(Ordering::Relaxed) => return Ok(Stop::Full),
                Stop::Input => raw.read_on(self.file, inflate.position())?,
                Stop::Full if symbols.end >= capacity && capacity < most => {
                    let length = most.min(start + (capacity - start) / 2 * 3 + 1024);
                    buffer.resize(length + SLACK, 0);
                }
                stopped => return Ok(stopped),
            }
        }
    }
}

impl Ended {
    fn new(stop: Stop, inflate: Inflate) -> Self {
        match stop {
            Stop::Boundary => Self::AtBlock(inflate.position()),
            Stop::End => Self::WithFile,
            Stop::Full | Stop::Input => Self::Full(Box::new(inflate)),
        }
    }
}

impl DecodedRange {
    /// Whether the range begins at bit `end` of the file.
    pub(super) fn follows(&self, end: u64) -> bool {
        self.begun.is_none_or(|begun| begun == end)
    }
}

impl Symbols {
    /// Returns the last text, as far as matches can reach.
    pub(super) fn tail(&self, buffer: &[u8], window: &Window) -> Vec<u8> {
        if self.width == 1 {
            return buffer[self.floor.max(self.end.saturating_sub(WINDOW))..self.end].to_vec();
        }
        let known = self.floor.max(self.start - 2 * window.known());
        window.resolve(&buffer[known.max(self.end - 2 * WINDOW)..self.end])
    }

    /// Sets the bounds of `text` to symbols of one byte.
    pub(super) fn show(&self, text: &mut Text) {
        let length = (self.end - self.start) / self.width;
        (text.start, text.end) = (self.start, self.start + length);
    }

    /// Converts the symbols to text and calls `each` with stretches of it.
    pub(super) fn into_text(self, text: &mut Text, each: &mut dyn FnMut(&[u8])) {
        let length = (self.end - self.start) / self.width;
        self.show(text);
        if self.width == 1 {
            return each(text.bytes());
        }
        let Text { buffer, gzip, .. } = text;
        let window = gzip.window.get_or_insert_default();
        if let Err(fault) = window.check(&buffer[self.start..self.end]) {
            // All markers precede the first end of a member, so the dropped text has no complete member.
            gzip.damage = Some(fault.into());
            return nothing(text);
        }
        for done in (0..length).step_by(PIECE) {
            let (to, piece) = (self.start + done, PIECE.min(length - done));
            window.resolve_in_place(buffer, to + done, to, piece);
            each(&buffer[to..to + piece]);
        }
    }
}
