//! Text in memory that the host cannot access directly.

use std::ops::Range;

use memchr::memrchr_iter;

use crate::bgzf::Block;

/// The number of bytes at the end of a text that are searched for line ends at first.
const USUAL_END: usize = 16 << 10;

/// The sizes of a [`RemoteText`], in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteRoom {
    /// The largest number of bytes of a file.
    pub bytes: usize,
    /// The largest number of bytes of text that these become.
    pub text: usize,
    /// The largest number of bytes that can be inserted before the text.
    pub headroom: usize,
    /// The largest number of compressed blocks.
    pub blocks: usize,
}

/// Memory of a device, for example, that receives bytes of a file and turns them into text there.
///
/// The bytes are first put into [`bytes`](Self::bytes), and then become text by [`take`](Self::take) or
/// [`inflate`](Self::inflate). Positions are counted from the start of the text.
pub trait RemoteText {
    /// The error of the device.
    type Error;

    /// Returns the sizes.
    fn room(&self) -> RemoteRoom;

    /// Returns room for the next `length` bytes of a file, with unspecified content.
    ///
    /// # Errors
    /// If the device fails.
    fn bytes(&mut self, length: usize) -> Result<&mut [u8], Self::Error>;

    /// Makes the first `length` bytes the text. Returns the number of its line ends.
    ///
    /// # Errors
    /// If the device fails.
    fn take(&mut self, length: usize) -> Result<u64, Self::Error>;

    /// Inflates blocks, whose positions are those in the bytes. Returns the number of line ends of the text; `None` if
    /// a block is damaged or unusual, so that the host must inflate the bytes and word the error.
    ///
    /// # Errors
    /// If the device fails.
    fn inflate(&mut self, blocks: &[Block]) -> Result<Option<u64>, Self::Error>;

    /// Returns the length of the text in bytes.
    fn len(&self) -> usize;

    /// Returns whether there is no text.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies part of the text to the host.
    ///
    /// # Errors
    /// If the device fails.
    fn read(&mut self, range: Range<usize>) -> Result<Vec<u8>, Self::Error>;

    /// Returns the position of the line end that `following` others follow: 0 finds the last one. Only as much of the
    /// end of the text is copied to the host as has these line ends.
    ///
    /// # Errors
    /// If the device fails.
    fn line_end(&mut self, following: usize) -> Result<Option<usize>, Self::Error> {
        let mut looked_at = USUAL_END;
        loop {
            let from = self.len().saturating_sub(looked_at);
            let seen = self.read(from..self.len())?;
            let found = memrchr_iter(b'\n', &seen).nth(following);
            if found.is_some() || from == 0 {
                return Ok(found.map(|at| from + at));
            }
            looked_at *= 16;
        }
    }

    /// Inserts bytes before the text. There must be room.
    ///
    /// # Errors
    /// If the device fails.
    fn prepend(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Appends a line end. There must be room for this byte in addition to [`RemoteRoom::text`].
    ///
    /// # Errors
    /// If the device fails.
    fn end_line(&mut self) -> Result<(), Self::Error>;

    /// Removes the text from position `length` on.
    fn truncate(&mut self, length: usize);
}
