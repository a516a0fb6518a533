//! One range, decoded from a block on, whether the text before it is known or not.

use super::raw::Raw;
use super::{Plan, Sizes, Stream, nothing};
use crate::deflate::{Inflate, Output, SLACK, Stop, WINDOW, Window, markers};
use crate::text::GzipRange;
use crate::{Error, Text};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// How ranges are decoded.
pub(super) struct Decoding<'a> {
    pub(super) sizes: Sizes,
    pub(super) stopped: &'a AtomicBool,
    pub(super) file: &'a File,
    pub(super) plan: Plan,
}

/// A decoded range.
pub(super) struct DecodedRange {
    /// The bit of the file where it begins; `None` if there is no doubt about it.
    begun: Option<u64>,
    pub(super) symbols: Symbols,
    pub(super) ended: Ended,
}

/// Where decoding ended.
pub(super) enum Ended {
    /// At this bit of the file, where the next range should begin.
    AtBlock(u64),
    /// With the file.
    WithFile,
    /// Where no more room was.
    Full(Box<Inflate>),
    /// Where the data are not valid, or end too early.
    Damaged(Error),
}

/// Symbols in the text's buffer.
pub(super) struct Symbols {
    /// Bytes a symbol has: 1 if the text before was known.
    width: usize,
    start: usize,
    end: usize,
    /// How far matches after them may reach back.
    floor: usize,
}

/// Bytes of text made in one go: what the cache nearest to a core still holds when they are looked at.
const PIECE: usize = 256 * 1024;

/// Compressed bytes read behind a range at first: some blocks of what compressors make.
const OVERLAP: usize = 64 * 1024;

impl Decoding<'_> {
    /// Decodes from where `stream` stands to the first block to be found at bit `stop` or behind.
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

    /// Looks for a block that begins among these bits of the file, and decodes from there. `None`
    /// if there is none.
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
                // No block, or damage: whoever knows the text before will find out.
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

    /// The compressed bytes of a range, from bit `at` of the file on.
    fn read(&self, text: &mut Text, at: u64) -> io::Result<Raw> {
        let mut raw = Raw::at(at / 8, std::mem::take(&mut text.raw));
        raw.read(self.file, self.plan.range as usize + OVERLAP)?;
        Ok(raw)
    }

    /// Makes room for a range and the window before it, and returns where it begins.
    fn room<const W: usize>(&self, text: &mut Text) -> usize {
        text.gzip.ends.clear();
        let symbols = self.sizes.text.min(self.plan.limit);
        text.room(self.sizes.headroom + WINDOW * W, symbols * W + SLACK);
        text.start
    }

    /// Decodes into the text's buffer, as far as the limit allows.
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
                // Nobody will see it.
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
    /// Whether it is what follows bit `end` of the file.
    pub(super) fn follows(&self, end: u64) -> bool {
        self.begun.is_none_or(|begun| begun == end)
    }
}

impl Symbols {
    /// The last text, as far as matches may reach.
    pub(super) fn tail(&self, buffer: &[u8], window: &Window) -> Vec<u8> {
        if self.width == 1 {
            return buffer[self.floor.max(self.end.saturating_sub(WINDOW))..self.end].to_vec();
        }
        let known = self.floor.max(self.start - 2 * window.known());
        window.resolve(&buffer[known.max(self.end - 2 * WINDOW)..self.end])
    }

    /// Lets the text show symbols of one byte as its text.
    pub(super) fn show(&self, text: &mut Text) {
        let length = (self.end - self.start) / self.width;
        (text.start, text.end) = (self.start, self.start + length);
    }

    /// Makes text of the symbols, and calls `each` with stretches of it.
    pub(super) fn into_text(self, text: &mut Text, each: &mut dyn FnMut(&[u8])) {
        let length = (self.end - self.start) / self.width;
        self.show(text);
        if self.width == 1 {
            return each(text.bytes());
        }
        let Text { buffer, gzip, .. } = text;
        let window = gzip.window.get_or_insert_default();
        if let Err(fault) = window.check(&buffer[self.start..self.end]) {
            // Markers come before all ends of members.
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
