//! Stores batches until all reads have been seen: in memory up to a limit, then in a temporary file.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::SpillFile;

use super::found::{Found, FoundBatch};
use crate::Error;
use crate::candidates::Seen;

/// Storage for batches.
#[derive(Debug)]
pub(super) struct Storage {
    /// The bytes of memory that are still free for batches.
    left: AtomicU64,
    spill: SpillFile,
}

/// The location of a stored batch.
#[derive(Debug)]
pub(super) enum Stored {
    Memory(Box<[u8]>),
    Disk { offset: u64, length: usize },
}

impl Storage {
    /// Creates an empty storage. Batches beyond `memory` bytes go to a file in `folder`.
    pub(super) fn new(folder: &Path, memory: u64) -> Storage {
        Storage { left: AtomicU64::new(memory), spill: SpillFile::new(folder) }
    }

    /// Stores a batch, in place of another one if given.
    ///
    /// # Errors
    /// If writing to the disk fails.
    pub(super) fn put(
        &self,
        found: &Found<'_>,
        seen: &Seen,
        instead: Option<Stored>,
    ) -> Result<Stored, Error> {
        if let Some(Stored::Memory(bytes)) = instead {
            self.left.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        let bytes = found.store(seen);
        let take = |left: u64| left.checked_sub(bytes.len() as u64);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(Stored::Memory(bytes.into())),
            Err(_) => Ok(Stored::Disk { offset: self.spill.append(&bytes)?, length: bytes.len() }),
        }
    }

    /// Returns a stored batch. `bytes` is working space.
    ///
    /// # Errors
    /// If reading from the disk fails.
    pub(super) fn get(&self, stored: &Stored, bytes: &mut Vec<u8>) -> Result<FoundBatch, Error> {
        match stored {
            Stored::Memory(bytes) => FoundBatch::load(bytes),
            Stored::Disk { offset, length } => {
                bytes.resize(*length, 0);
                self.spill.read_at(*offset, bytes)?;
                FoundBatch::load(bytes)
            }
        }
    }
}
