//! What the threads that sort share, and sorted records on disk.

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
use super::sizes::{LEAST_PART, PART_COPIES};
use crate::Error;

/// The least bytes that a thread holds before they go to disk.
const LEAST_SHARE: u64 = 4 << 20;
/// Memory is taken in pieces of a share, of at most so many bytes.
const SLABS: u64 = 16;
const MAX_SLAB: u64 = 4 << 20;
/// A block on disk is full with so many bytes: a part of a share, so that a block of each run fits
/// into memory.
const BLOCKS: u64 = 32;
const BLOCK: [u64; 2] = [16 << 10, 128 << 10];
/// Fast: what is read back once need not be small.
const ZSTD_LEVEL: i32 = 1;
/// Bytes of a turn.
const TURN: usize = 8;

/// The memory in which records are sorted, and the records that are on disk.
#[derive(Debug)]
pub struct Sorting {
    share: u64,
    /// Bytes of memory while records are written.
    writing: u64,
    cancel: Cancel,
    /// Bytes of all records.
    bytes: AtomicU64,
    file: SpillFile,
    runs: Mutex<Vec<SpilledBlocks>>,
}

/// The blocks of a sorted list in their order.
pub(super) type SpilledBlocks = Vec<Block>;

/// A block of records on disk, each behind its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Of its first record.
    pub(super) first: Key,
    pub(super) bytes: usize,
    offset: u64,
    packed: usize,
}

impl Sorting {
    /// Returns the bytes that `threads` threads need at least.
    pub fn least_memory(threads: u64) -> u64 {
        2 * LEAST_SHARE * threads
    }

    /// Prepares to sort in so many bytes of memory, and then in `directory`; with `writing` bytes of memory, these
    /// among them, to write records when all are there.
    pub fn new(
        [memory, writing]: [u64; 2],
        threads: u64,
        directory: &Path,
        cancel: &Cancel,
    ) -> Sorting {
        Sorting {
            // An eighth remains for what is written meanwhile, and for what is not used of slabs.
            share: (memory / threads / 8 * 7).max(LEAST_SHARE),
            writing,
            cancel: cancel.clone(),
            bytes: AtomicU64::new(0),
            file: SpillFile::new(directory),
            runs: Mutex::new(Vec::new()),
        }
    }

    /// Bytes that a thread may hold.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// Bytes of memory to write records in.
    pub(super) fn writing(&self) -> u64 {
        self.writing
    }

    /// Bytes of a block on disk.
    fn block(&self) -> u64 {
        (self.share / BLOCKS).clamp(BLOCK[0], BLOCK[1])
    }

    /// Returns the bytes that are read of so many runs for nothing with each part, as blocks reach beyond it.
    pub(super) fn beyond(&self, runs: usize) -> u64 {
        2 * self.block() * runs as u64
    }

    /// Bytes in which a thread takes them.
    pub(super) fn slab(&self) -> usize {
        (self.share / SLABS).min(MAX_SLAB) as usize
    }

    pub(super) fn count(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of all records.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the bytes that went to disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Returns the memory, in bytes, with which nothing would have gone to disk.
    pub fn memory_without_spill(&self) -> u64 {
        // Threads do not hold the same, and an entry of a small record may be as large as that.
        self.bytes() / 2 * 3
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(super) fn check_cancelled(&self) -> Result<(), Error> {
        Ok(self.cancel.check()?)
    }

    /// The runs on disk.
    pub(super) fn take_runs(&self) -> Vec<SpilledBlocks> {
        std::mem::take(&mut lock(&self.runs))
    }

    /// Writes sorted records to disk.
    ///
    /// # Errors
    /// If that fails, or if cancelled.
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
        let needed = PART_COPIES * LEAST_PART + self.beyond(runs.len());
        let share = format_size(self.share);
        let what = format_args!("sorting so many records with {share} at a time needs");
        Budget::of_part(self.writing).with(needed).check(what, Shortage::FEWER_THREADS)?;
        Ok(())
    }

    /// Makes a reader of blocks on disk.
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

/// Reads blocks back.
pub(super) struct Unpacker<'f> {
    file: &'f SpillFile,
    zstd: Decompressor<'static>,
    packed: Vec<u8>,
}

impl Unpacker<'_> {
    /// Fills `slab` with a block, and `entries` with its records from a key on up to another;
    /// `number` is the slab's.
    ///
    /// # Errors
    /// If it cannot be read.
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
