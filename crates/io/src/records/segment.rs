//! Stretches of the input: reads that stand for themselves, or pairs.

use crate::Error;
use crate::input::Input;
use crate::same::are_same;

/// A stretch of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadInput {
    /// Reads that stand for themselves.
    Single(Input),
    /// Pairs: the mates one after the other.
    Interleaved(Input),
    /// Pairs: the first mates and the second mates.
    Pair(Input, Input),
}

impl ReadInput {
    /// Whether it is of pairs.
    pub fn is_paired(&self) -> bool {
        !matches!(self, ReadInput::Single(_))
    }

    /// The files of the segment.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let (first, second) = match self {
            ReadInput::Single(input) | ReadInput::Interleaved(input) => (input, None),
            ReadInput::Pair(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

/// Sees to it that no file is its own mate.
///
/// # Errors
/// If first and second mates are the same file.
pub(crate) fn refuse_own_mates(segments: &[ReadInput]) -> Result<(), Error> {
    for segment in segments {
        let ReadInput::Pair(one, two) = segment else { continue };
        if are_same(one, two) {
            return Err(Error::OwnMates { first: one.to_string(), second: two.to_string() });
        }
    }
    Ok(())
}
