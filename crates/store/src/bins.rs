//! Bins of records, kept in memory or on disk between two passes over them.
//!
//! A record is a byte string that is kept whole: it never spans two blocks. Each bin has one open block. A full block
//! stays in memory while the pool allows; otherwise it is appended to the spill file, which is shared by all bins of
//! a pool. Therefore only one file is open, however many bins there are, and the memory use can be limited.
//!
//! [`Scatter`](crate::Scatter) puts fixed-width items into bins. Super-k-mers use bins directly, because their records
//! have no fixed width and are never sorted.

mod pool;
mod writer;

pub use pool::{BlockPool, Spilling, Storage};
pub use writer::Writer;

use std::sync::Mutex;

use bytes::BytesMut;
use merganser_io::Error;
use merganser_run::locks::lock;

/// Bins that share a [`BlockPool`].
pub struct Bins<'p> {
    pool: &'p BlockPool,
    bins: Vec<Mutex<Bin>>,
}

#[derive(Default)]
struct Bin {
    open: BytesMut,
    full: Vec<StoredBlock>,
    bytes: u64,
}

enum StoredBlock {
    Memory(BytesMut),
    Disk { offset: u64, len: usize },
}

impl<'p> Bins<'p> {
    /// Creates `bins` empty bins.
    pub fn new(pool: &'p BlockPool, bins: usize) -> Bins<'p> {
        Bins { pool, bins: (0..bins).map(|_| Mutex::default()).collect() }
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// Returns the size of the records of a bin in bytes.
    pub fn bytes(&self, bin: usize) -> u64 {
        lock(&self.bins[bin]).bytes
    }

    /// Appends whole records to a bin. `records` should not be larger than a block; otherwise, they are stored in
    /// a block that is larger than planned.
    ///
    /// # Errors
    /// If the spill file cannot be written, or if memory is full and [`Storage::Ram`] forbids spilling.
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

    /// Takes all records out of a bin. [`Contents::read`] visits them, and dropping the contents frees them.
    pub fn take(&self, bin: usize) -> Contents<'p> {
        let bin = std::mem::take(&mut *lock(&self.bins[bin]));
        Contents { pool: self.pool, segments: bin.full, open: bin.open, bytes: bin.bytes }
    }
}

/// The records that were taken out of one bin. Dropping them frees their blocks.
pub struct Contents<'p> {
    pool: &'p BlockPool,
    segments: Vec<StoredBlock>,
    open: BytesMut,
    bytes: u64,
}

impl Contents<'_> {
    /// Returns the size of the records in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Calls `visit` with the records of each block. `buffer` is working space for blocks that lie on disk.
    ///
    /// # Errors
    /// If the disk cannot be read, or if `visit` fails.
    pub fn read<E: From<Error>>(
        &self,
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let blocks = self.segments.len() + usize::from(!self.open.is_empty());
        (0..blocks).try_for_each(|number| self.read_block(number, buffer, &mut visit))
    }

    /// Returns the size of each block in bytes.
    pub fn block_bytes(&self) -> impl Iterator<Item = usize> + '_ {
        let full = self.segments.iter().map(|segment| match segment {
            StoredBlock::Memory(block) => block.len(),
            StoredBlock::Disk { len, .. } => *len,
        });
        full.chain((!self.open.is_empty()).then_some(self.open.len()))
    }

    /// Calls `visit` with the records of block `number`. Blocks are numbered in the order of
    /// [`block_bytes`](Self::block_bytes); the last one may be the open block. `buffer` is working space for a
    /// block that lies on disk.
    ///
    /// # Errors
    /// If the disk cannot be read, or if `visit` fails.
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
