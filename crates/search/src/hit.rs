//! Hits: places of a text where a pattern occurs.

use crate::{Alignment, Operation};

/// A place of a text where a pattern occurs with at most the allowed edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The number of the pattern, from 0, in the order in which the patterns were given.
    pub pattern: usize,
    /// Whether the reverse complement of the pattern was found.
    pub reverse: bool,
    /// The number of edits.
    pub edits: usize,
    /// The position and the operations of the alignment, in the direction of the text.
    pub alignment: Alignment,
    /// The aligned letters of the text, in its direction, in upper case.
    pub letters: Vec<u8>,
}

impl Hit {
    /// Returns the key by which hits of a text are sorted. Hits beyond the end of a text differ in the number
    /// of letters outside.
    pub(crate) fn key(&self) -> (usize, usize, usize, bool, u32) {
        let Alignment { start, end, operations } = &self.alignment;
        let outside = match operations.last() {
            Some(&(Operation::Clip, count)) => count,
            _ => 0,
        };
        (*start, *end, self.pattern, self.reverse, outside)
    }
}
