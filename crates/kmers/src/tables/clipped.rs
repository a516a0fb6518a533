//! A range of the k-mers of `.mgk` tables, as if the tables had no others.

use merganser_run::Shard;
use merganser_seq::kmer::Kmer;

use super::AnyTable;
use crate::Error;
use crate::error::bad;
use crate::formats::mgk::{MAX_PER_BLOCK, MgkRanges, Table};
use crate::ranges::{RangeReader, Ranges, ends};

/// The number of first bits of a k-mer at which a border between ranges can lie.
const BORDER_BITS: u32 = 24;

/// The first and the last k-mer of a range; `None` if it is empty.
type Window<K> = Option<(K, K)>;

/// Returns the k-mers of a range. Over all tables, each range has about the same number of blocks. The borders
/// depend only on the tables.
fn window<K: Kmer>(tables: &[&Table], k: usize, range: Shard) -> Window<K> {
    let bits = BORDER_BITS.min(2 * k as u32);
    let first = |prefix: u64| ends::<K>(k, K::from_low(prefix), bits).0;
    let total: u64 = tables.iter().map(|table| table.blocks_in_all()).sum();
    let share = range.share(total);
    // Finds the first prefix before which there are at least `wanted` blocks.
    let border = |wanted: u64| {
        let (mut low, mut high) = (0, 1 << bits);
        while low < high {
            let middle = (low + high) / 2;
            let before: u64 = tables.iter().map(|table| table.block_of(first(middle))).sum();
            if before < wanted { low = middle + 1 } else { high = middle }
        }
        low
    };
    let from = if range.number() == 1 { 0 } else { border(share.start) };
    let to = if range.number() == range.of() { 1 << bits } else { border(share.end) };
    (from < to).then(|| (first(from), ends::<K>(k, K::from_low(to - 1), bits).1))
}

/// The k-mers of each table.
pub(crate) type AllRanges<'t, K> = Vec<Box<dyn Ranges<K> + 't>>;

/// Returns the k-mers of the tables that are in a range.
///
/// # Errors
/// If a table is not an `.mgk` table.
pub(crate) fn clipped<K: Kmer>(
    tables: &[AnyTable],
    k: usize,
    range: Shard,
) -> Result<AllRanges<'_, K>, Error> {
    let own = |table| {
        let reason = "only .mgk tables have ranges: make one with merganser kmers convert";
        AnyTable::as_mgk(table).ok_or_else(|| bad(table.path(), reason))
    };
    let tables = tables.iter().map(own).collect::<Result<Vec<&Table>, _>>()?;
    let window = window::<K>(&tables, k, range);
    let clipped = |table| Box::new(Clipped::new(table, window)) as Box<dyn Ranges<K> + '_>;
    Ok(tables.into_iter().map(clipped).collect())
}

/// The k-mers of a table within a window.
struct Clipped<'t, K> {
    table: &'t Table,
    all: MgkRanges<'t>,
    window: Window<K>,
}

impl<'t, K: Kmer> Clipped<'t, K> {
    fn new(table: &'t Table, window: Window<K>) -> Clipped<'t, K> {
        Clipped { table, all: MgkRanges(table), window }
    }
}

impl<K: Kmer> Ranges<K> for Clipped<'_, K> {
    fn kmers(&self) -> u64 {
        let Some((first, last)) = self.window else { return 0 };
        let (from, to) = self.table.blocks_between(first, last);
        self.table.header().kmers.min((to - from) * MAX_PER_BLOCK as u64)
    }

    fn largest_count(&self) -> u32 {
        self.table.header().largest_count
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        Box::new(ClippedReader { clipped: self, all: self.all.reader() })
    }
}

struct ClippedReader<'c, K> {
    clipped: &'c Clipped<'c, K>,
    all: Box<dyn RangeReader<K> + 'c>,
}

impl<K: Kmer> ClippedReader<'_, K> {
    /// Returns the window if it overlaps a range.
    fn meets(&self, prefix: K, bits: u32) -> Window<K> {
        let (first, last) = ends::<K>(self.clipped.table.header().k, prefix, bits);
        self.clipped.window.filter(|&(from, to)| from <= last && first <= to)
    }
}

impl<K: Kmer> RangeReader<K> for ClippedReader<'_, K> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        match self.meets(prefix, bits) {
            Some(_) => self.all.at_most(prefix, bits),
            None => Ok(0),
        }
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let Some((first, last)) = self.meets(prefix, bits) else { return Ok(()) };
        self.all.read(prefix, bits, kmers)?;
        kmers.truncate(kmers.partition_point(|&(kmer, _)| kmer <= last));
        let before = kmers.partition_point(|&(kmer, _)| kmer < first);
        kmers.drain(..before);
        Ok(())
    }
}
