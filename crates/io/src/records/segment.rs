//! Inputs of reads: single reads or pairs.

use crate::Error;
use crate::input::Input;
use crate::kind::FileKind;
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
    /// Whether the input is one of pairs.
    pub fn is_paired(&self) -> bool {
        !matches!(self, ReadInput::Single(_))
    }

    /// Whether the input may have pairs: it is one of pairs, or a file of alignments, whose flags tell the mates, or a
    /// stream, which may be that.
    pub fn may_have_pairs(&self) -> bool {
        let ReadInput::Single(input) = self else { return true };
        match input.path() {
            Some(path) if !input.is_stream() => {
                FileKind::of_path(path).is_some_and(FileKind::is_alignments)
            }
            _ => true,
        }
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
