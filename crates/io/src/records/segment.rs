//! Inputs of reads: single reads or pairs.

use crate::Error;
use crate::input::Input;
use crate::same::are_same;

/// An input of reads: single reads, or pairs in one or two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadInput {
    /// Single reads.
    Single(Input),
    /// Pairs in one file, whose mates follow each other.
    Interleaved(Input),
    /// Pairs in two files: of first mates and of second mates.
    Pair(Input, Input),
}

impl ReadInput {
    /// Whether the input has pairs.
    pub fn is_paired(&self) -> bool {
        !matches!(self, ReadInput::Single(_))
    }

    /// Returns the files of the input.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let (first, second) = match self {
            ReadInput::Single(input) | ReadInput::Interleaved(input) => (input, None),
            ReadInput::Pair(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

impl From<Input> for ReadInput {
    /// Makes an input of single reads.
    fn from(input: Input) -> ReadInput {
        ReadInput::Single(input)
    }
}

impl From<&Input> for ReadInput {
    /// Makes an input of single reads.
    fn from(input: &Input) -> ReadInput {
        ReadInput::Single(input.clone())
    }
}

impl From<&ReadInput> for ReadInput {
    fn from(input: &ReadInput) -> ReadInput {
        input.clone()
    }
}

impl<A: Into<Input>, B: Into<Input>> From<(A, B)> for ReadInput {
    /// Makes an input of pairs: the file of first mates and that of second mates.
    fn from((first, second): (A, B)) -> ReadInput {
        ReadInput::Pair(first.into(), second.into())
    }
}

/// Checks that no file is given as its own mate.
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
