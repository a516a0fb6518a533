//! The pool of memory blocks, and the spill file for blocks that do not fit in memory.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use merganser_io::{Error, SpillFile};
use merganser_run::locks::lock;

use super::StoredBlock;

merganser_run::named! {
    /// The place where records are kept.
    #[derive(Default)]
    pub enum Storage {
        /// Records are kept in memory while the budget lasts, then on disk.
        #[default]
        Auto = "auto",
        /// Records are kept only in memory; it is an error if they do not fit.
        Ram = "ram",
        /// Records are kept only on disk.
        Disk = "disk",
    }
}

/// Blocks of one size, shared by all bins of a run.
pub struct BlockPool {
    block_bytes: usize,
    storage: Storage,
    /// The number of bytes of full blocks that may stay in memory.
    limit: u64,
    free: Mutex<Vec<Vec<u8>>>,
    /// The number of full blocks in memory.
    full: AtomicUsize,
    /// The number of full blocks in memory and on disk.
    blocks: AtomicU64,
    /// The largest value that `blocks` has had.
    max_blocks: AtomicU64,
    /// The file of blocks that are not kept in memory.
    pub(super) file: SpillFile,
}

/// The limit for full blocks in memory, and the location of the others.
pub struct Spilling {
    /// Whether blocks are kept in memory, on disk, or both.
    pub storage: Storage,
    /// The number of bytes of full blocks that may stay in memory; ignored with [`Storage::Disk`].
    pub limit: u64,
    /// The directory in which the spill file is created when it is needed.
    pub directory: PathBuf,
}

impl BlockPool {
    /// Creates a pool of blocks of `block_bytes` bytes each, which are allocated when needed.
    pub fn new(block_bytes: usize, spilling: Spilling) -> BlockPool {
        let Spilling { storage, limit, directory } = spilling;
        BlockPool {
            block_bytes,
            storage,
            limit,
            free: Mutex::default(),
            full: AtomicUsize::new(0),
            blocks: AtomicU64::new(0),
            max_blocks: AtomicU64::new(0),
            file: SpillFile::new(&directory),
        }
    }

    /// Returns the size of a block in bytes.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Returns the number of bytes of full blocks that may stay in memory.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the number of bytes written to disk so far.
    pub fn spilled(&self) -> u64 {
        self.file.bytes()
    }

    /// Returns the largest number of bytes that full blocks took at any time, counting blocks on disk as if they
    /// were in memory.
    pub fn max_bytes(&self) -> u64 {
        self.max_blocks.load(Ordering::Relaxed) * self.block_bytes as u64
    }

    /// Returns an empty block.
    pub(super) fn block(&self) -> Vec<u8> {
        let free = lock(&self.free).pop();
        free.unwrap_or_else(|| Vec::with_capacity(self.block_bytes))
    }

    /// Stores a full block in memory if the limit allows, otherwise on disk. In the latter case, the emptied block is
    /// returned too.
    pub(super) fn keep_or_spill(
        &self,
        mut block: Vec<u8>,
    ) -> Result<(StoredBlock, Option<Vec<u8>>), Error> {
        let limit = match self.storage {
            Storage::Disk => 0,
            Storage::Auto | Storage::Ram => self.limit() / self.block_bytes as u64,
        };
        let blocks = self.blocks.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_blocks.fetch_max(blocks, Ordering::Relaxed);
        let kept = self.full.fetch_add(1, Ordering::Relaxed);
        if (kept as u64) < limit {
            return Ok((StoredBlock::Memory(block), None));
        }
        self.full.fetch_sub(1, Ordering::Relaxed);
        if self.storage == Storage::Ram {
            return Err(Error::RamFull { limit: self.limit() });
        }
        let offset = self.file.append(&block)?;
        let segment = StoredBlock::Disk { offset, len: block.len() };
        block.clear();
        Ok((segment, Some(block)))
    }

    /// Takes back the blocks of a bin: its full blocks `segments`, which no longer count against the limit, and its
    /// open block.
    pub(super) fn recycle(&self, segments: Vec<StoredBlock>, open: Vec<u8>) {
        self.blocks.fetch_sub(segments.len() as u64, Ordering::Relaxed);
        let mut free = lock(&self.free);
        let mut add = |mut block: Vec<u8>| {
            block.clear();
            free.push(block);
        };
        for segment in segments {
            if let StoredBlock::Memory(block) = segment {
                add(block);
                self.full.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if open.capacity() > 0 {
            add(open);
        }
    }

    /// Returns the memory of all empty blocks to the system. This takes about a second for 20 GB.
    pub fn trim(&self) {
        let free = std::mem::take(&mut *lock(&self.free));
        drop(free);
    }
}
