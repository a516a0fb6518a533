//! The tables of a calculation: their compatibility, and the memory that is spent on them.

use std::path::Path;

use merganser_run::{Budget, Cancel, ConfigError, Context, Progress, Shortage, Unit, least_memory};
use merganser_seq::kmer::Kmer;
use merganser_store::{BlockPool, Spilling, Storage};

use super::engine::Engine;
use crate::ranges::Ranges;
use crate::tables::{AnyTable, Description};
use crate::{Error, scattered};

/// Tables that were counted in the same way, and the memory that is spent on them.
pub(crate) struct Session<'s> {
    pub(crate) tables: &'s [AnyTable],
    pub(crate) context: &'s Context,
    pub(super) pool: BlockPool,
    pub(crate) k: usize,
    pub(crate) canonical: bool,
    pub(crate) homopolymer_compressed: bool,
    /// The size of the arrays of each worker, in bytes.
    worker_bytes: u64,
    /// The memory of each worker for sorting the gathered k-mers of a table, in bytes.
    sorting_bytes: u64,
    /// The number of arrays of each worker.
    width: u64,
    /// The size of encoded parts that wait to be written, in bytes.
    waiting_bytes: u64,
    /// The memory that is used whatever the budget, in bytes.
    fixed: u64,
    /// The number of blocks that are open at a time.
    blocks: u64,
}

/// The size of blocks of gathered k-mers.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=16 << 10;
/// The minimum memory for the arrays of a worker.
const MIN_WORKER_BYTES: u64 = 2 << 20;
/// The largest number of k-mers of all tables in a range: enough to make the cost of a range negligible, few
/// enough to stay in the second-level cache.
const MAX_PER_RANGE: u64 = 1 << 16;

impl<'s> Session<'s> {
    /// Returns the budget of calculations with tables and of look-ups.
    pub(crate) fn budget(context: &Context) -> Budget {
        Budget::new(context.budget()).with_files(2)
    }

    /// Checks that the tables were counted in the same way and that memory suffices; `width` is the number of
    /// arrays of k-mers that a worker needs.
    pub(crate) fn new(
        tables: &'s [AnyTable],
        width: u64,
        context: &'s Context,
    ) -> Result<Session<'s>, Error> {
        Self::with_gatherings(tables, width, 0, context)
    }

    /// Does the same as [`Session::new`], with blocks for `own` collections of records that the calculation scatters,
    /// of which one is written at a time.
    pub(crate) fn with_gatherings(
        tables: &'s [AnyTable],
        width: u64,
        own: u64,
        context: &'s Context,
    ) -> Result<Session<'s>, Error> {
        let Some(first) = tables.first() else {
            return Err(Error::Config(ConfigError::new("a table is needed")));
        };
        for table in tables {
            go_together(first, table)?;
        }
        let unsorted = tables.iter().filter(|table| table.is_unsorted()).count() as u64;
        let gathered = unsorted + own;
        let resident: u64 = tables.iter().map(|table| table.resident(context.threads)).sum();
        let threads = context.threads as u64;
        let k = first.description().k;
        // Other records than k-mers have the largest number of ranges.
        let blocks = unsorted * scattered::ranges(k) as u64 + own * scattered::MAX_RANGES as u64;
        let gathering = if gathered > 0 { threads * scattered::WORKER_BYTES } else { 0 };
        let fixed = Self::budget(context).with(resident).with(gathering);
        let least = fixed.with(blocks * BLOCK_BYTES.start() + 3 * threads * MIN_WORKER_BYTES);
        let what = format_args!("these tables ({}) need", tables.len());
        least.check(what, Shortage::FEWER_THREADS)?;
        let (block_bytes, left) = beside_blocks(fixed.left(), blocks);
        let pool = BlockPool::new(
            block_bytes as usize,
            Spilling {
                storage: Storage::Auto,
                limit: left / 2,
                directory: context.temp_dir.clone(),
            },
        );
        let &Description { canonical, homopolymer_compressed, .. } = first.description();
        // Gathered k-mers are sorted while the workers' arrays are in use.
        let halves = if gathered > 0 { 2 } else { 1 };
        let worker_bytes = left / 4 / threads / halves;
        Ok(Session {
            tables,
            context,
            pool,
            k,
            canonical,
            homopolymer_compressed,
            worker_bytes,
            sorting_bytes: worker_bytes / unsorted.max(1),
            width: width.max(1),
            waiting_bytes: left / 8,
            fixed: fixed.needed(),
            blocks,
        })
    }

    /// Returns the memory, in bytes, with which nothing would have been spilled to disk; `None` if nothing was.
    pub(crate) fn enough_memory(&self) -> Option<u64> {
        if self.pool.spilled() == 0 {
            return None;
        }
        let most = self.pool.max_bytes();
        // Blocks of another size hold slightly more or fewer k-mers.
        let needed = most + most / 32;
        let holds = |budget: u64| beside_blocks(budget - self.fixed, self.blocks).1 / 2 >= needed;
        least_memory(self.context.budget(), holds)
    }

    /// Returns the k-mers of each table, in ascending order.
    pub(crate) fn ranges<K: Kmer>(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Vec<Box<dyn Ranges<K> + '_>>, Error> {
        let unsorted = self.tables.iter().filter(|table| table.is_unsorted());
        progress.stage("gathering", Unit::Bytes, Some(unsorted.map(work_of).sum()));
        self.tables
            .iter()
            .map(|table| {
                let (sorting, threads) = (self.sorting_bytes, self.context.threads);
                let ranges = table.ranges::<K>(&self.pool, sorting, threads, cancel)?;
                if table.is_unsorted() {
                    progress.advance(work_of(table));
                }
                Ok(ranges)
            })
            .collect()
    }

    /// Returns the pool of the blocks of gathered records.
    pub(crate) fn pool(&self) -> &BlockPool {
        &self.pool
    }

    /// Returns the memory of each worker for sorting gathered records, in bytes.
    pub(crate) fn sorting_bytes(&self) -> u64 {
        self.sorting_bytes
    }

    /// Returns the memory, in bytes, that gathered k-mers may take.
    pub(crate) fn gathered_bytes(&self) -> u64 {
        self.pool.limit()
    }

    /// Returns the engine that distributes the ranges.
    pub(crate) fn engine<'e, K: Kmer>(
        &self,
        ranges: &'e [Box<dyn Ranges<K> + 'e>],
        section_bits: u32,
        progress: &'e dyn Progress,
        cancel: &'e Cancel,
    ) -> Engine<'e, K> {
        let total = self.tables.iter().map(work_of).sum();
        progress.stage("computing", Unit::Bytes, Some(total));
        // A table reads whole blocks: a range needs room for two blocks of each table to be readable at all.
        let least = 1024 * ranges.len() as u64;
        let entry = size_of::<(K, u32)>() as u64;
        let most = (self.worker_bytes / entry / self.width).min(MAX_PER_RANGE).max(least);
        let threads = self.context.threads;
        Engine { tables: ranges, k: self.k, section_bits, most, threads, progress, total, cancel }
    }

    /// Returns the memory for encoded parts, in bytes, which calculations that do not write a table have for other uses.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Returns the number of k-mers that may wait to be written; an encoded one takes about a third of a plain one.
    pub(crate) fn max_waiting<K: Kmer>(&self) -> u64 {
        self.waiting_bytes / size_of::<(K, u32)>() as u64
    }
}

/// Returns the size of each of `blocks` open blocks, and what they leave of `bytes`.
fn beside_blocks(bytes: u64, blocks: u64) -> (u64, u64) {
    let block_bytes = match blocks {
        0 => *BLOCK_BYTES.start(),
        _ => (bytes / 4 / blocks).clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
    };
    (block_bytes, bytes - blocks * block_bytes)
}

/// Returns an error if two tables differ in k, strands or homopolymer compression.
fn go_together(one: &AnyTable, other: &AnyTable) -> Result<(), Error> {
    let (a, b) = (one.description(), other.description());
    let reason = if a.k != b.k {
        format!("its k is {}, that of {} is {}", b.k, one.path().display(), a.k)
    } else if a.canonical != b.canonical {
        let strands = |is: &Description| match is.canonical {
            true => "canonical k-mers",
            false => "k-mers of the forward strand (`forward_only`)",
        };
        format!("it has {}, {} has {}", strands(b), one.path().display(), strands(a))
    } else if a.homopolymer_compressed != b.homopolymer_compressed {
        let reads = |is: &Description| match is.homopolymer_compressed {
            true => "homopolymer-compressed reads",
            false => "uncompressed reads",
        };
        format!("it was made from {}, {} from {}", reads(b), one.path().display(), reads(a))
    } else {
        return Ok(());
    };
    let reason = format!("{reason}: all tables must be counted in the same way");
    Err(Error::Table { path: other.path().to_owned(), reason })
}

/// Opens tables; `canonical` tells whether the k-mers of texts are taken as canonical.
///
/// # Errors
/// If one cannot be opened.
pub fn open_tables(
    paths: &[impl AsRef<Path>],
    canonical: bool,
    context: &Context,
) -> Result<Vec<AnyTable>, Error> {
    paths.iter().map(|path| AnyTable::open_with(path.as_ref(), canonical, context)).collect()
}

/// Opens tables that may be pieces of one table.
///
/// # Errors
/// If one cannot be opened.
pub fn open_pieces(
    paths: &[impl AsRef<Path>],
    canonical: bool,
    context: &Context,
) -> Result<Vec<AnyTable>, Error> {
    paths.iter().map(|path| AnyTable::open_piece(path.as_ref(), canonical, context)).collect()
}

/// Returns the work of reading a table for the progress: the bytes of its files, or 0 if the system cannot tell.
fn work_of(table: &AnyTable) -> u64 {
    table.bytes().unwrap_or(0)
}
