//! Bins of records, in blocks of memory or on disk: what waits between two passes over it.
//!
//! Records are byte strings that a bin keeps whole: none straddles two blocks. A bin has one open
//! block; a full one stays in memory while the pool allows, else it is appended to the spill file,
//! which all bins of all stores share. So few files are open however many bins there are, and
//! memory is a setting.

mod pool;
mod writer;

pub use pool::{Pool, Spilling, Storage};
pub use writer::Writer;

use std::sync::Mutex;

use merganser_run::locks::lock;

use crate::Error;

/// A number of bins that share a [`Pool`].
pub struct Store<'p> {
    pool: &'p Pool,
    bins: Vec<Mutex<Bin>>,
}

#[derive(Default)]
struct Bin {
    open: Vec<u8>,
    full: Vec<Segment>,
    bytes: u64,
}

enum Segment {
    Memory(Vec<u8>),
    Disk { offset: u64, len: usize },
}

impl<'p> Store<'p> {
    /// Bins that are empty yet.
    pub fn new(pool: &'p Pool, bins: usize) -> Store<'p> {
        Store { pool, bins: (0..bins).map(|_| Mutex::default()).collect() }
    }

    /// Where its blocks are from.
    pub fn pool(&self) -> &'p Pool {
        self.pool
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
    pool: &'p Pool,
    segments: Vec<Segment>,
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
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let blocks = self.segments.len() + usize::from(!self.open.is_empty());
        (0..blocks).try_for_each(|number| self.read_block(number, buffer, &mut visit))
    }

    /// The bytes of each block.
    pub fn block_bytes(&self) -> impl Iterator<Item = usize> + '_ {
        let full = self.segments.iter().map(|segment| match segment {
            Segment::Memory(block) => block.len(),
            Segment::Disk { len, .. } => *len,
        });
        full.chain((!self.open.is_empty()).then_some(self.open.len()))
    }

    /// Gives `visit` the records of the block of this number. `buffer` is working space for what lies on
    /// disk.
    ///
    /// # Errors
    /// If the disk cannot be read, and what `visit` returns.
    pub fn read_block(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.segments.get(number) {
            Some(Segment::Memory(block)) => visit(block),
            Some(Segment::Disk { offset, len }) => {
                self.pool.unspill(*offset, *len, buffer)?;
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
