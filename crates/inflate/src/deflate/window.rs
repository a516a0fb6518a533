//! Resolves references to text that was unknown when it was decoded.

use super::{CORRUPT, Fault};

/// The maximum distance of a match, in bytes of text.
pub(crate) const WINDOW: usize = 1 << 15;

/// The first marker. Symbols have two bytes, the lower first. A symbol below this is a byte of text; another one is a
/// marker of byte `symbol - FIRST` of the [`WINDOW`] bytes before the position where decoding began.
const FIRST: u16 = 256;

/// Fills `room`, which has [`WINDOW`] symbols, with consecutive markers.
pub(crate) fn markers(room: &mut [u8]) {
    for (symbol, marker) in room.as_chunks_mut::<2>().0.iter_mut().zip(FIRST..) {
        *symbol = marker.to_le_bytes();
    }
}

/// A table of the byte that each symbol represents.
pub(crate) struct Window {
    bytes: Box<[u8; 1 << 16]>,
    /// The lowest marker of a known byte: fewer than [`WINDOW`] bytes may be known.
    lowest: u16,
}

impl Default for Window {
    fn default() -> Self {
        let mut bytes = vec![0; 1 << 16].into_boxed_slice();
        for (byte, value) in bytes.iter_mut().zip(0..=255) {
            *byte = value;
        }
        let bytes = bytes.try_into().unwrap_or_else(|_| Box::new([0; 1 << 16]));
        Self { bytes, lowest: FIRST }
    }
}

impl Window {
    /// Makes the markers represent `text`, the at most [`WINDOW`] bytes before the decoded range.
    pub(crate) fn set(&mut self, text: &[u8]) {
        let end = usize::from(FIRST) + WINDOW;
        self.bytes[end - text.len()..end].copy_from_slice(text);
        self.lowest = FIRST + (WINDOW - text.len()) as u16;
    }

    /// Returns the number of known bytes.
    pub(crate) fn known(&self) -> usize {
        WINDOW + usize::from(FIRST) - usize::from(self.lowest)
    }

    /// Returns the bytes that `symbols` represent.
    pub(crate) fn resolve(&self, symbols: &[u8]) -> Vec<u8> {
        symbols.as_chunks::<2>().0.iter().map(|symbol| self.byte(*symbol)).collect()
    }

    #[inline(always)]
    fn byte(&self, symbol: [u8; 2]) -> u8 {
        self.bytes[usize::from(u16::from_le_bytes(symbol))]
    }

    /// Checks that all markers among `symbols` represent known bytes.
    pub(crate) fn check(&self, symbols: &[u8]) -> Result<(), Fault> {
        let unknown = FIRST..self.lowest;
        let mut all = symbols.as_chunks::<2>().0.iter().map(|symbol| u16::from_le_bytes(*symbol));
        if !unknown.is_empty() && all.any(|symbol| unknown.contains(&symbol)) {
            return Err(CORRUPT);
        }
        Ok(())
    }

    /// Replaces `length` symbols from `buffer[from]` with their bytes, written from `buffer[to]`. `to` must not be
    /// greater than `from`.
    pub(crate) fn resolve_in_place(
        &self,
        buffer: &mut [u8],
        from: usize,
        to: usize,
        length: usize,
    ) {
        const STEP: usize = 32;
        let (mut from, mut to) = (from, to);
        let mut left = length;
        while left >= STEP {
            let mut symbols = [0; 2 * STEP];
            symbols.copy_from_slice(&buffer[from..from + 2 * STEP]);
            let mut bytes = [0; STEP];
            for (byte, symbol) in bytes.iter_mut().zip(symbols.as_chunks::<2>().0) {
                *byte = self.byte(*symbol);
            }
            buffer[to..to + STEP].copy_from_slice(&bytes);
            (from, to, left) = (from + 2 * STEP, to + STEP, left - STEP);
        }
        for at in 0..left {
            buffer[to + at] = self.byte([buffer[from + 2 * at], buffer[from + 2 * at + 1]]);
        }
    }
}
