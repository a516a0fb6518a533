//! Items that come in any order, scattered by their leading bits into ranges.
//!
//! Each range is then taken and sorted by itself, in cache: no merge is needed, and the order is that
//! of the items, whatever order they came in and wherever they were kept.

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::Error;

use crate::{Bins, BlockPool, Contents, Writer};

/// Buffer bytes of a range in each worker.
const STRIDE: usize = 512;

/// Bytes of records that are appended at a time, far less than a block: what a block has no room for
/// goes to the next one.
const APPENDED: usize = 2 << 10;

/// Bytes that a worker's buffers for so many ranges take.
pub const fn worker_bytes(ranges: usize) -> u64 {
    (STRIDE * ranges) as u64
}

/// How items are kept as bytes, and which range each belongs to.
pub trait Records: Copy {
    /// What is kept.
    type Item: Copy;

    /// The most bytes that [`put`](Records::put) writes, also behind what it says that it took.
    const MAX: usize;

    /// The number of ranges.
    fn ranges(&self) -> usize;

    /// The range of an item.
    fn range(&self, item: Self::Item) -> usize;

    /// Bytes of a record that has no [excess](Records::excess).
    fn bytes(&self) -> usize;

    /// Bytes that the record of an item takes beyond [`bytes`](Records::bytes).
    #[inline(always)]
    fn excess(&self, _item: Self::Item) -> usize {
        0
    }

    /// Writes a record to the start of `to`, at least [`MAX`](Records::MAX) bytes; returns how many
    /// it took.
    fn put(&self, item: Self::Item, to: &mut [u8]) -> usize;

    /// Gives `take` the items of whole records of a range.
    fn each(&self, range: usize, records: &[u8], take: impl FnMut(Self::Item));
}

/// Items by range, in memory or on disk.
pub struct Scatter<'p, R> {
    bins: Bins<'p>,
    records: R,
    /// The excess of all records of each range.
    excess: Vec<AtomicU64>,
}

impl<'p, R: Records> Scatter<'p, R> {
    /// Creates empty ranges, whose blocks come from `pool`.
    pub fn new(records: R, pool: &'p BlockPool) -> Scatter<'p, R> {
        let ranges = records.ranges();
        let excess = (0..ranges).map(|_| AtomicU64::new(0)).collect();
        Scatter { bins: Bins::new(pool, ranges), records, excess }
    }

    /// One worker's way in.
    pub fn writer(&self) -> Scattering<'_, 'p, R> {
        Scattering { scatter: self, writer: Writer::new(&self.bins, STRIDE) }
    }

    /// Adds records of one range, all of `bytes` bytes each, as [`Records::put`] writes them.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    ///
    /// # Panics
    /// If they are no whole records.
    pub fn append(&self, range: usize, records: &[u8], bytes: usize) -> Result<(), Error> {
        assert!(records.len().is_multiple_of(bytes), "a part of a record");
        let excess = (bytes - self.records.bytes()) * (records.len() / bytes);
        self.excess[range].fetch_add(excess as u64, Ordering::Relaxed);
        let mut parts = records.chunks(APPENDED / bytes * bytes);
        parts.try_for_each(|part| self.bins.append(range, part))
    }

    /// Takes a range's items, unsorted. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn take(
        &self,
        range: usize,
        buffer: &mut Vec<u8>,
        items: &mut Vec<R::Item>,
    ) -> Result<(), Error> {
        items.clear();
        items.reserve(self.len(range) as usize);
        self.contents(range).each(buffer, |item| items.push(item))
    }

    /// Takes a range's items, which can then be read any number of times.
    pub fn contents(&self, range: usize) -> RangeContents<'p, R> {
        RangeContents { range, contents: self.bins.take(range), records: self.records }
    }

    /// How many items a range has, once all writers have finished.
    pub fn len(&self, range: usize) -> u64 {
        let excess = self.excess[range].load(Ordering::Relaxed);
        self.bins.bytes(range).saturating_sub(excess) / self.records.bytes() as u64
    }

    /// The number of ranges.
    pub fn ranges(&self) -> usize {
        self.bins.bins()
    }

    /// How items are kept.
    pub fn records(&self) -> &R {
        &self.records
    }
}

/// One worker's way into scattered items. What it still has is dropped if
/// [`finish`](Scattering::finish) is not called.
pub struct Scattering<'s, 'p, R> {
    scatter: &'s Scatter<'p, R>,
    writer: Writer<'s, 'p>,
}

impl<R: Records> Scattering<'_, '_, R> {
    /// Takes an item.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    #[inline(always)]
    pub fn keep(&mut self, item: R::Item) -> Result<(), Error> {
        let records = &self.scatter.records;
        let range = records.range(item);
        let room = self.writer.room(range, R::MAX)?;
        let took = records.put(item, room);
        self.writer.commit(range, took);
        let excess = records.excess(item);
        if excess > 0 {
            self.scatter.excess[range].fetch_add(excess as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes items, whose cache misses overlap.
    ///
    /// # Errors
    /// As [`Scattering::keep`].
    #[inline]
    pub fn keep_all(&mut self, items: &[R::Item]) -> Result<(), Error> {
        for &item in items {
            self.writer.prefetch(self.scatter.records.range(item));
        }
        items.iter().try_for_each(|&item| self.keep(item))
    }

    /// Hands over what the worker still has.
    ///
    /// # Errors
    /// As [`Scattering::keep`].
    pub fn finish(self) -> Result<(), Error> {
        self.writer.finish()
    }
}

/// The items of one range.
pub struct RangeContents<'p, R> {
    range: usize,
    contents: Contents<'p>,
    records: R,
}

impl<R: Records> RangeContents<'_, R> {
    /// Gives `take` whole records at a time, as [`Scatter::append`] takes them. `buffer` is working
    /// space.
    ///
    /// # Errors
    /// If the disk cannot be read, and what `take` returns.
    pub fn read<E: From<Error>>(
        &self,
        buffer: &mut Vec<u8>,
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.contents.read(buffer, take)
    }

    /// Gives `take` the items, in no order. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn each(&self, buffer: &mut Vec<u8>, mut take: impl FnMut(R::Item)) -> Result<(), Error> {
        self.contents.read(buffer, |block| {
            self.records.each(self.range, block, &mut take);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spilling, Storage};

    /// Numbers of 64 bits by their lowest byte.
    #[derive(Clone, Copy)]
    struct Numbers;

    impl Records for Numbers {
        type Item = u64;
        const MAX: usize = 8;

        fn ranges(&self) -> usize {
            256
        }

        fn range(&self, item: u64) -> usize {
            item as usize % 256
        }

        fn bytes(&self) -> usize {
            8
        }

        fn put(&self, item: u64, to: &mut [u8]) -> usize {
            to[..8].copy_from_slice(&item.to_le_bytes());
            8
        }

        fn each(&self, _range: usize, records: &[u8], mut take: impl FnMut(u64)) {
            for record in records.as_chunks().0 {
                take(u64::from_le_bytes(*record));
            }
        }
    }

    #[test]
    fn items_come_back_from_memory_and_disk() {
        let folder = tempfile::tempdir().unwrap();
        for (storage, limit) in
            [(Storage::Auto, 1 << 16), (Storage::Disk, 0), (Storage::Ram, 1 << 30)]
        {
            let directory = folder.path().to_owned();
            let pool = BlockPool::new(4 << 10, Spilling { storage, limit, directory });
            let scatter = Scatter::new(Numbers, &pool);
            let mut writer = scatter.writer();
            let mut expected = vec![Vec::new(); 256];
            for number in 0..400_000u64 {
                let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                // Some ranges have far more than others.
                let number = if number % 3 == 0 { number & !0xf0 } else { number };
                writer.keep(number).unwrap();
                expected[number as usize % 256].push(number);
            }
            writer.finish().unwrap();
            assert_eq!(pool.spilled() > 0, storage != Storage::Ram);
            let (mut buffer, mut items) = (Vec::new(), Vec::new());
            for (range, expected) in expected.iter_mut().enumerate() {
                assert_eq!(scatter.len(range), expected.len() as u64);
                scatter.take(range, &mut buffer, &mut items).unwrap();
                items.sort_unstable();
                expected.sort_unstable();
                assert!(items == *expected, "range {range}");
            }
        }
    }

    #[test]
    fn memory_alone_may_be_too_little() {
        let directory = std::env::temp_dir();
        let pool = BlockPool::new(1 << 10, Spilling { storage: Storage::Ram, limit: 0, directory });
        let scatter = Scatter::new(Numbers, &pool);
        let mut writer = scatter.writer();
        let failed = (0..100_000).find_map(|number| writer.keep(number).err());
        let message = failed.unwrap().to_string();
        assert!(message.starts_with("the bins do not fit in the 0 "), "{message}");
    }
}
