//! The buffer for text.

use crate::Error;
use crate::deflate::{MemberEnd, MemberText, Window};

/// The buffers for a range of a gzip file, kept to reuse their memory.
#[derive(Default)]
pub(crate) struct GzipRange {
    pub(crate) ends: Vec<MemberEnd>,
    pub(crate) parts: Vec<MemberText>,
    pub(crate) window: Option<Window>,
    /// The error in the data after the text.
    pub(crate) damage: Option<Error>,
}

/// Text in a buffer with room before and after it, and the buffers that inflating it needs. Each worker has one,
/// which is refilled to reuse its memory.
#[derive(Default)]
pub struct Text {
    /// The text is `buffer[start..end]`.
    pub buffer: Vec<u8>,
    /// The start of the text in the buffer.
    pub start: usize,
    /// The end of the text in the buffer.
    pub end: usize,
    /// Compressed bytes that are inflated into `buffer`.
    pub raw: Vec<u8>,
    /// The buffers for a range of a gzip file.
    pub(crate) gzip: GzipRange,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Text").field("bytes", &self.len()).finish_non_exhaustive()
    }
}

impl Text {
    /// Returns the text.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Makes room for `length` bytes of text with `headroom` bytes before it, and returns this space, with undefined
    /// content. The buffer keeps its full length, as clearing it would cost a pass over it each time.
    pub fn room(&mut self, headroom: usize, length: usize) -> &mut [u8] {
        let needed = headroom + length;
        if self.buffer.len() > 4 * needed.max(1 << 16) {
            // The memory of a single giant record should not be kept for the rest of the run.
            self.buffer = Vec::new();
        }
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
        (self.start, self.end) = (headroom, needed);
        &mut self.buffer[headroom..needed]
    }

    /// Inserts `carry` before the text and clears `carry`.
    pub fn prepend(&mut self, carry: &mut Vec<u8>) {
        if carry.len() <= self.start {
            let start = self.start - carry.len();
            self.buffer[start..self.start].copy_from_slice(carry);
            self.start = start;
        } else {
            carry.extend_from_slice(self.bytes());
            std::mem::swap(&mut self.buffer, carry);
            (self.start, self.end) = (0, self.buffer.len());
        }
        carry.clear();
    }
}
