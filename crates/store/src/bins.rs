//! Bins of records, in blocks of memory or on disk, between two passes over them.
//!
//! Records are byte strings that a bin keeps whole: none straddles two blocks. A bin has one open
//! block; a full one stays in memory while the pool allows, else it is appended to the spill file,
//! which all bins of a pool share. So one file is open however many bins there are, and memory is a
//! setting.
//!
//! [`Scatter`](crate::Scatter) puts items of any kind into bins. Super-k-mers use bins directly:
//! their records have no fixed width, and they are never sorted.

mod pool;
mod writer;

pub use pool::{BlockPool, Spilling, Storage};
pub use writer::Writer;

use std::sync::Mutex;

use merganser_io::Error;
use merganser_run::locks::lock;

/// Bins that share a [`BlockPool`].
pub struct Bins<'p> {
    pool: &'p BlockPool,
    bins: Vec<Mutex<Bin>>,
}

#[derive(Default)]
struct Bin {
    open: Vec<u8>,
    full: Vec<StoredBlock>,
    bytes: u64,
}

enum StoredBlock {
    Memory(Vec<u8>),
    Disk { offset: u64, len: usize },
}

impl<'p> Bins<'p> {
    /// Creates empty bins.
    pub fn new(pool: &'p BlockPool, bins: usize) -> Bins<'p> {
        Bins { pool, bins: (0..bins).map(|_| Mutex::default()).collect() }
    }

    /// The number of bins.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// Bytes of records in a bin.
    pub fn bytes(&self, bin: usize) -> u64 {
        lock(&self.bins[bin]).bytes
    }

    /// Adds whole records, at most a block of them.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    pub fn append(&self, bin: usize, records: &[u8]) -> Result<(), Error> {
        let mut bin = lock(&self.bins[bin]);
        if bin.open.len() + records.len() > self.pool.block_bytes() && !bin.open.is_empty() {
            let full = std::mem::take(&mut bin.open);
            let (segment, spare) = self.pool.keep_or_spill(full)?;
            bin.full.push(segment);
            bin.open = spare.unwrap_or_default();
        }
        if bin.open.capacity() == 0 {
            bin.open = self.pool.block();
        }
        bin.open.extend_from_slice(records);
        bin.bytes += records.len() as u64;
        Ok(())
    }

    /// Takes all records out of a bin; [`Contents::read`] gives them, dropping frees them.
    pub fn take(&self, bin: usize) -> Contents<'p> {
        let bin = std::mem::take(&mut *lock(&self.bins[bin]));
        Contents { pool: self.pool, segments: bin.full, open: bin.open, bytes: bin.bytes }
    }
}

/// The records of one bin.
pub struct Contents<'p> {
    pool: &'p BlockPool,
    segments: Vec<StoredBlock>,
    open: Vec<u8>,
    bytes: u64,
}

impl Contents<'_> {
    /// Bytes of the records.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives `visit` the records, block by block. `buffer` is working space for what lies on disk.
    ///
    /// # Errors
    /// If the disk cannot be read, and what `visit` returns.
    pub fn read<E: From<Error>>(
        &self,
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let blocks = self.segments.len() + usize::from(!self.open.is_empty());
        (0..blocks).try_for_each(|number| self.read_block(number, buffer, &mut visit))
    }

    /// The bytes of each block.
    pub fn block_bytes(&self) -> impl Iterator<Item = usize> + '_ {
        let full = self.segments.iter().map(|segment| match segment {
            StoredBlock::Memory(block) => block.len(),
            StoredBlock::Disk { len, .. } => *len,
        });
        full.chain((!self.open.is_empty()).then_some(self.open.len()))
    }

    /// Gives `visit` the records of the block of this number. `buffer` is working space for what lies on
    /// disk.
    ///
    /// # Errors
    /// If the disk cannot be read, and what `visit` returns.
    pub fn read_block<E: From<Error>>(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.segments.get(number) {
            Some(StoredBlock::Memory(block)) => visit(block),
            Some(StoredBlock::Disk { offset, len }) => {
                buffer.resize(*len, 0);
                self.pool.file.read_at(*offset, buffer)?;
                visit(buffer)
            }
            None => visit(&self.open),
        }
    }
}

impl Drop for Contents<'_> {
    fn drop(&mut self) {
        self.pool.recycle(std::mem::take(&mut self.segments), std::mem::take(&mut self.open));
    }
}
