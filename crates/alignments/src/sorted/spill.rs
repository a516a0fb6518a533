//! The shared state of a sorting, and sorted runs on disk.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::SpillFile;
use merganser_run::locks::lock;
use merganser_run::{Budget, Cancel, Shortage, format_size};
use zstd::bulk::{Compressor, Decompressor};

use super::Fields;
use super::entry::{Entry, record_of};
use super::key::{Key, KeyRange};
use super::sizes::{MIN_PART, PART_COPIES};
use crate::Error;

/// The minimum size in bytes of a thread's share of the memory.
const MIN_SHARE: u64 = 4 << 20;
/// The number of slabs in a share.
const SLABS: u64 = 16;
/// The maximum size of a slab in bytes.
const MAX_SLAB: u64 = 4 << 20;
/// The number of blocks of a run in a share, so that one block of each run fits into memory.
const BLOCKS: u64 = 32;
/// The minimum and the maximum size of a block on disk, in bytes before compression.
const BLOCK: [u64; 2] = [16 << 10, 128 << 10];
/// The compression level: fast, as the data are read back only once.
const ZSTD_LEVEL: i32 = 1;
/// The size of a turn in bytes.
const TURN: usize = 8;

/// A sorting: its memory limits and the records on disk.
#[derive(Debug)]
pub struct Sorting {
    share: u64,
    /// The memory in bytes while records are written.
    writing: u64,
    cancel: Cancel,
    /// The size of all records in bytes.
    bytes: AtomicU64,
    file: SpillFile,
    runs: Mutex<Vec<SpilledBlocks>>,
}

/// The blocks of a sorted run, in order.
pub(super) type SpilledBlocks = Vec<Block>;

/// A block on disk: records, each after its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The key of the first record.
    pub(super) first: Key,
    pub(super) bytes: usize,
    offset: u64,
    packed: usize,
}

impl Sorting {
    /// Returns the minimum memory in bytes for `threads` threads.
    pub fn least_memory(threads: u64) -> u64 {
        2 * MIN_SHARE * threads
    }

    /// Prepares to sort in `memory` bytes, and beyond that in temporary files in `directory`. `writing` is the memory
    /// in bytes, including `memory`, for writing the records when all have been added.
    pub fn new(
        [memory, writing]: [u64; 2],
        threads: u64,
        directory: &Path,
        cancel: &Cancel,
    ) -> Sorting {
        Sorting {
            // An eighth remains for runs being written and for unused space in slabs.
            share: (memory / threads / 8 * 7).max(MIN_SHARE),
            writing,
            cancel: cancel.clone(),
            bytes: AtomicU64::new(0),
            file: SpillFile::new(directory),
            runs: Mutex::new(Vec::new()),
        }
    }

    /// Returns the number of bytes that a thread may hold.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// Returns the memory in bytes for writing the records.
    pub(super) fn writing(&self) -> u64 {
        self.writing
    }

    /// Returns the size of a full block on disk, in bytes before compression.
    fn block(&self) -> u64 {
        (self.share / BLOCKS).clamp(BLOCK[0], BLOCK[1])
    }

    /// Returns the number of bytes that each range reads in vain from `runs` runs, as blocks reach beyond its
    /// borders.
    pub(super) fn beyond(&self, runs: usize) -> u64 {
        2 * self.block() * runs as u64
    }

    /// Returns the size of a slab in bytes.
    pub(super) fn slab(&self) -> usize {
        (self.share / SLABS).min(MAX_SLAB) as usize
    }

    pub(super) fn count(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the size of all records in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes written to disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Returns the memory, in bytes, with which nothing would have been written to disk.
    pub fn memory_without_spill(&self) -> u64 {
        // Threads hold different amounts, and the entry of a small record can be as large as the record.
        self.bytes() / 2 * 3
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(super) fn check_cancelled(&self) -> Result<(), Error> {
        Ok(self.cancel.check()?)
    }

    /// Takes out the list of runs on disk.
    pub(super) fn take_runs(&self) -> Vec<SpilledBlocks> {
        std::mem::take(&mut lock(&self.runs))
    }

    /// Writes a sorted run to disk.
    ///
    /// # Errors
    /// If writing fails, if the runs become too many for the memory, or if cancelled.
    pub(super) fn add_run(&self, slabs: &[Vec<u8>], entries: &[Entry]) -> Result<(), Error> {
        let Some(&first) = entries.first() else { return Ok(()) };
        let mut packer = Packer { file: &self.file, zstd: Compressor::new(ZSTD_LEVEL)? };
        let most = self.block() as usize;
        let (mut run, mut block, mut key) =
            (SpilledBlocks::new(), Vec::with_capacity(2 * most), first.key);
        for &entry in entries {
            if block.len() >= most {
                self.check_cancelled()?;
                run.push(packer.pack(key, &block)?);
                block.clear();
                key = entry.key;
            }
            block.extend_from_slice(&entry.key.turn.to_le_bytes());
            block.extend_from_slice(record_of(slabs, entry));
        }
        run.push(packer.pack(key, &block)?);
        let mut runs = lock(&self.runs);
        runs.push(run);
        let needed = PART_COPIES * MIN_PART + self.beyond(runs.len());
        let share = format_size(self.share);
        let what = format_args!("sorting these records in runs of {share} needs");
        Budget::of_part(self.writing).with(needed).check(what, Shortage::FEWER_THREADS)?;
        Ok(())
    }

    /// Returns a reader of blocks on disk.
    pub(super) fn unpacker(&self) -> Result<Unpacker<'_>, Error> {
        Ok(Unpacker { file: &self.file, zstd: Decompressor::new()?, packed: Vec::new() })
    }
}

struct Packer<'f> {
    file: &'f SpillFile,
    zstd: Compressor<'static>,
}

impl Packer<'_> {
    fn pack(&mut self, first: Key, block: &[u8]) -> Result<Block, Error> {
        let packed = self.zstd.compress(block)?;
        let offset = self.file.append(&packed)?;
        Ok(Block { first, bytes: block.len(), offset, packed: packed.len() })
    }
}

/// A reader of blocks on disk.
pub(super) struct Unpacker<'f> {
    file: &'f SpillFile,
    zstd: Decompressor<'static>,
    packed: Vec<u8>,
}

impl Unpacker<'_> {
    /// Reads a block into `slab` and appends the entries of its records in `range` to `entries`. `number` is the
    /// index of the slab.
    ///
    /// # Errors
    /// If the block cannot be read.
    pub(super) fn unpack(
        &mut self,
        block: &Block,
        range: &KeyRange,
        number: u32,
        slab: &mut Vec<u8>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), Error> {
        self.packed.resize(block.packed, 0);
        self.file.read_at(block.offset, &mut self.packed)?;
        slab.clear();
        slab.reserve_exact(block.bytes);
        self.zstd.decompress_to_buffer(&self.packed, slab)?;
        let mut at = 0;
        while let Some((turn, record)) = slab[at..].split_first_chunk::<TURN>() {
            let key = Key::new(record, u64::from_le_bytes(*turn));
            at += TURN;
            if range.has(key) {
                entries.push(Entry { key, slab: number, at: at as u32 });
            }
            at += Fields(record).len();
        }
        Ok(())
    }
}
