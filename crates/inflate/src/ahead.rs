//! Inflation ahead of the reader.

use std::fmt::Debug;
use std::fs::File;
use std::sync::Arc;

use crate::bgzf::BlockWalk;

/// An inflater of BGZF files that works ahead of their readers, on a device for example.
pub trait InflateAhead: Debug + Send + Sync {
    /// Starts to inflate the blocks of a file from the position of `walk` on. Returns `None` if no more files are
    /// inflated now, or if the file is too small.
    fn start(&self, file: &Arc<File>, walk: &BlockWalk) -> Option<Box<dyn TextsAhead>>;
}

/// The texts of a file, in the order of the file.
pub trait TextsAhead: Send {
    /// Waits for the next text.
    fn next(&mut self) -> Ahead;
}

/// The next part of a file.
pub enum Ahead {
    /// The text of some blocks, and the number of bytes of the blocks.
    Text(Arc<dyn AsRef<[u8]> + Send + Sync>, u64),
    /// The position from which the reader goes on itself: at the end of the blocks, or before a block that was refused.
    Rest(BlockWalk),
}
