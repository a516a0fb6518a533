//! Tables that are computed with: whether they go together, and how memory is spent on them.

use std::path::Path;

use merganser_run::{
    Budget, Cancel, ConfigError, Progress, Resources, Shortage, Unit, least_memory,
};
use merganser_seq::kmer::Kmer;
use merganser_store::{BlockPool, Spilling, Storage};

use super::engine::Engine;
use crate::ranges::Ranges;
use crate::tables::{AnyTable, Description};
use crate::{Error, scattered};

/// Tables that go together, and how memory is spent on them.
pub(crate) struct Session<'s> {
    pub(crate) tables: &'s [AnyTable],
    pub(crate) resources: &'s Resources,
    pub(super) pool: BlockPool,
    pub(crate) k: usize,
    pub(crate) canonical: bool,
    pub(crate) homopolymer_compressed: bool,
    /// Bytes for each worker's arrays.
    worker_bytes: u64,
    /// Bytes for each worker to sort gathered k-mers of a table.
    sorting_bytes: u64,
    /// Arrays that a worker has.
    width: u64,
    /// Bytes of parts that wait to be written.
    waiting_bytes: u64,
    /// Bytes that are taken whatever the budget.
    fixed: u64,
    /// Blocks that are open at a time.
    blocks: u64,
}

/// Blocks of gathered k-mers.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=16 << 10;
/// The least memory for a worker's arrays.
const LEAST_WORKER_BYTES: u64 = 2 << 20;
/// k-mers of all tables in a range: enough that a range costs nothing by itself, few enough that
/// they stay in the second-level cache.
const MAX_PER_RANGE: u64 = 1 << 16;

impl<'s> Session<'s> {
    /// The memory of what computes with tables, or looks up in them.
    pub(crate) fn budget(resources: &Resources) -> Budget {
        Budget::new(resources.budget()).with_files(2)
    }

    /// Sees to it that the tables go together and that memory suffices; `width` is the number of
    /// arrays of k-mers that a worker needs.
    pub(crate) fn new(
        tables: &'s [AnyTable],
        width: u64,
        resources: &'s Resources,
    ) -> Result<Session<'s>, Error> {
        let Some(first) = tables.first() else {
            return Err(Error::Config(ConfigError::new("a table is needed")));
        };
        for table in tables {
            go_together(first, table)?;
        }
        let unsorted = tables.iter().filter(|table| table.is_unsorted()).count() as u64;
        let resident: u64 = tables.iter().map(|table| table.resident(resources.threads)).sum();
        let threads = resources.threads as u64;
        let k = first.description().k;
        let blocks = unsorted * scattered::ranges(k) as u64;
        let gathering = if unsorted > 0 { threads * scattered::WORKER_BYTES } else { 0 };
        let fixed = Self::budget(resources).with(resident).with(gathering);
        let least = fixed.with(blocks * BLOCK_BYTES.start() + 3 * threads * LEAST_WORKER_BYTES);
        let what = format_args!("these tables ({}) need", tables.len());
        least.check(what, Shortage::FEWER_THREADS)?;
        let (block_bytes, left) = beside_blocks(fixed.left(), blocks);
        let pool = BlockPool::new(
            block_bytes as usize,
            Spilling {
                storage: Storage::Auto,
                limit: left / 2,
                directory: resources.temp_dir.clone(),
            },
        );
        let &Description { canonical, homopolymer_compressed, .. } = first.description();
        // What is gathered is sorted beside the workers' arrays.
        let halves = if unsorted > 0 { 2 } else { 1 };
        let worker_bytes = left / 4 / threads / halves;
        Ok(Session {
            tables,
            resources,
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

    /// Bytes of memory with which nothing would have gone to disk, if something did.
    pub(crate) fn enough_memory(&self) -> Option<u64> {
        if self.pool.spilled() == 0 {
            return None;
        }
        let most = self.pool.max_bytes();
        // Blocks of another size hold a little more or less.
        let needed = most + most / 32;
        let holds = |budget: u64| beside_blocks(budget - self.fixed, self.blocks).1 / 2 >= needed;
        least_memory(self.resources.budget(), holds)
    }

    /// The tables' k-mers in order.
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
                let (sorting, threads) = (self.sorting_bytes, self.resources.threads);
                let ranges = table.ranges::<K>(&self.pool, sorting, threads, cancel)?;
                if table.is_unsorted() {
                    progress.advance(work_of(table));
                }
                Ok(ranges)
            })
            .collect()
    }

    /// Bytes of memory that gathered k-mers may take.
    pub(crate) fn gathered_bytes(&self) -> u64 {
        self.pool.limit()
    }

    /// What runs through the ranges.
    pub(crate) fn engine<'e, K: Kmer>(
        &self,
        ranges: &'e [Box<dyn Ranges<K> + 'e>],
        section_bits: u32,
        progress: &'e dyn Progress,
        cancel: &'e Cancel,
    ) -> Engine<'e, K> {
        let total = self.tables.iter().map(work_of).sum();
        progress.stage("computing", Unit::Bytes, Some(total));
        // Blocks of a table count in whole, so that less than two of each can never fit.
        let least = 1024 * ranges.len() as u64;
        let entry = size_of::<(K, u32)>() as u64;
        let most = (self.worker_bytes / entry / self.width).min(MAX_PER_RANGE).max(least);
        let threads = self.resources.threads;
        Engine { tables: ranges, k: self.k, section_bits, most, threads, progress, total, cancel }
    }

    /// k-mers that may wait to be written; encoded ones take about a third of a plain one.
    pub(crate) fn max_waiting<K: Kmer>(&self) -> u64 {
        self.waiting_bytes / size_of::<(K, u32)>() as u64
    }
}

/// The bytes of each of so many open blocks, and what they leave of `bytes`.
fn beside_blocks(bytes: u64, blocks: u64) -> (u64, u64) {
    let block_bytes = match blocks {
        0 => *BLOCK_BYTES.start(),
        _ => (bytes / 4 / blocks).clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
    };
    (block_bytes, bytes - blocks * block_bytes)
}

/// Tables of different k or strands have nothing to do with one another.
fn go_together(one: &AnyTable, other: &AnyTable) -> Result<(), Error> {
    let (a, b) = (one.description(), other.description());
    let reason = if a.k != b.k {
        format!("its k is {}, that of {} is {}", b.k, one.path().display(), a.k)
    } else if a.canonical != b.canonical {
        let strands = |is: &Description| match is.canonical {
            true => "canonical k-mers",
            false => "k-mers as they stand in the reads (`forward_only`)",
        };
        format!("it holds {}, {} holds {}", strands(b), one.path().display(), strands(a))
    } else if a.homopolymer_compressed != b.homopolymer_compressed {
        let reads = |is: &Description| match is.homopolymer_compressed {
            true => "homopolymer-compressed reads",
            false => "reads as they are",
        };
        format!("it is of {}, {} is of {}", reads(b), one.path().display(), reads(a))
    } else {
        return Ok(());
    };
    let reason = format!("{reason}: tables that are computed with must be counted alike");
    Err(Error::Table { path: other.path().to_owned(), reason })
}

/// Opens tables; `canonical` is what texts are taken for.
///
/// # Errors
/// If one cannot be opened.
pub fn open_tables(
    paths: &[impl AsRef<Path>],
    canonical: bool,
    cancel: &Cancel,
) -> Result<Vec<AnyTable>, Error> {
    paths.iter().map(|path| AnyTable::open(path.as_ref(), canonical, cancel)).collect()
}

/// Opens tables that may be parts of one.
///
/// # Errors
/// If one cannot be opened.
pub fn open_pieces(
    paths: &[impl AsRef<Path>],
    canonical: bool,
    cancel: &Cancel,
) -> Result<Vec<AnyTable>, Error> {
    paths.iter().map(|path| AnyTable::open_piece(path.as_ref(), canonical, cancel)).collect()
}

/// What progress counts: the bytes of a table's files, nothing where the system cannot tell.
fn work_of(table: &AnyTable) -> u64 {
    table.bytes().unwrap_or(0)
}
