//! Blocks of memory, handed out and taken back, and the spill file behind them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use merganser_io::{Error, SpillFile};
use merganser_run::locks::lock;

use super::StoredBlock;

merganser_run::named! {
    /// Where records are kept.
    #[derive(Default)]
    pub enum Storage {
        /// In memory as far as the budget goes, then on disk.
        #[default]
        Auto = "auto",
        /// In memory; an error if they do not fit.
        Ram = "ram",
        /// On disk.
        Disk = "disk",
    }
}

/// Blocks of one size for all bins of a run.
pub struct BlockPool {
    block_bytes: usize,
    storage: Storage,
    /// Bytes of full blocks that may stay in memory.
    limit: u64,
    free: Mutex<Vec<Vec<u8>>>,
    /// Full blocks in memory.
    full: AtomicUsize,
    /// Full blocks in memory and on disk,
    blocks: AtomicU64,
    /// and the most that there were at a time.
    max_blocks: AtomicU64,
    /// The blocks that memory does not hold.
    pub(super) file: SpillFile,
}

/// How many full blocks may stay in memory, and where the others go.
pub struct Spilling {
    /// Whether they may be in memory, or on disk.
    pub storage: Storage,
    /// Bytes of full blocks in memory, with [`Storage::Disk`] none.
    pub limit: u64,
    /// Where the spill file is made, when it is needed.
    pub directory: PathBuf,
}

impl BlockPool {
    /// Creates a pool of blocks of so many bytes each, which are allocated when they are needed.
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

    /// Bytes of a block.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of full blocks that may stay in memory.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes written to disk so far.
    pub fn spilled(&self) -> u64 {
        self.file.bytes()
    }

    /// The most bytes that full blocks took at a time, or would have taken had all been in memory.
    pub fn max_bytes(&self) -> u64 {
        self.max_blocks.load(Ordering::Relaxed) * self.block_bytes as u64
    }

    /// An empty block.
    pub(super) fn block(&self) -> Vec<u8> {
        let free = lock(&self.free).pop();
        free.unwrap_or_else(|| Vec::with_capacity(self.block_bytes))
    }

    /// Stores a full block: in memory if the limit allows, else on disk, and then the block
    /// itself comes back, empty.
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

    /// Takes the full blocks of `segments` back, which make room for others, and one that was still open.
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

    /// Gives the memory of all empty blocks back to the system, which takes a second for 20 GB.
    pub fn trim(&self) {
        let free = std::mem::take(&mut *lock(&self.free));
        drop(free);
    }
}
