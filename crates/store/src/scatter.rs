//! Items that arrive in any order, scattered into ranges by their leading bits.
//!
//! Each range is then taken and sorted separately, in cache. No merge is needed, and the result depends neither on
//! the order of arrival nor on where the items were kept.

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::Error;

use crate::{Bins, BlockPool, Contents, Writer};

/// The buffer size of a range in each worker, in bytes.
const STRIDE: usize = 512;

/// The number of bytes of records that are appended at a time. It is far less than a block, because records that do
/// not fit in the rest of a block go to the next one.
const APPENDED: usize = 2 << 10;

/// Returns the size in bytes of a worker's buffers for this number of ranges.
pub const fn worker_bytes(ranges: usize) -> u64 {
    (STRIDE * ranges) as u64
}

/// An encoding of items as bytes, and their assignment to ranges.
pub trait Records: Copy {
    /// The type of the items.
    type Item: Copy;

    /// The maximum number of bytes that [`put`](Records::put) writes, including bytes beyond the length that it
    /// returns.
    const MAX: usize;

    /// Returns the number of ranges.
    fn ranges(&self) -> usize;

    /// Returns the range of an item.
    fn range(&self, item: Self::Item) -> usize;

    /// Returns the size in bytes of a record without [excess](Records::excess).
    fn bytes(&self) -> usize;

    /// Returns the number of bytes by which the record of an item exceeds [`bytes`](Records::bytes).
    #[inline(always)]
    fn excess(&self, _item: Self::Item) -> usize {
        0
    }

    /// Writes a record to the start of `to`, which has at least [`MAX`](Records::MAX) bytes, and returns its length.
    fn put(&self, item: Self::Item, to: &mut [u8]) -> usize;

    /// Calls `take` with each item of the whole records of a range.
    fn each(&self, range: usize, records: &[u8], take: impl FnMut(Self::Item));
}

/// Items by range, kept in memory or on disk.
pub struct Scatter<'p, R> {
    bins: Bins<'p>,
    records: R,
    /// The total excess of the records of each range, in bytes.
    excess: Vec<AtomicU64>,
}

impl<'p, R: Records> Scatter<'p, R> {
    /// Creates empty ranges whose blocks come from `pool`.
    pub fn new(records: R, pool: &'p BlockPool) -> Scatter<'p, R> {
        let ranges = records.ranges();
        let excess = (0..ranges).map(|_| AtomicU64::new(0)).collect();
        Scatter { bins: Bins::new(pool, ranges), records, excess }
    }

    /// Creates a writer for one worker.
    pub fn writer(&self) -> Scattering<'_, 'p, R> {
        Scattering { scatter: self, writer: Writer::new(&self.bins, STRIDE) }
    }

    /// Appends records of one range, encoded by [`Records::put`], each of `bytes` bytes.
    ///
    /// # Errors
    /// If the disk is full, or if memory is full and [`Storage::Ram`](crate::Storage::Ram) forbids spilling.
    ///
    /// # Panics
    /// If `records` ends with a partial record.
    pub fn append(&self, range: usize, records: &[u8], bytes: usize) -> Result<(), Error> {
        assert!(records.len().is_multiple_of(bytes), "the records end with a partial record");
        let excess = (bytes - self.records.bytes()) * (records.len() / bytes);
        self.excess[range].fetch_add(excess as u64, Ordering::Relaxed);
        let mut parts = records.chunks(APPENDED / bytes * bytes);
        parts.try_for_each(|part| self.bins.append(range, part))
    }

    /// Takes the items of a range, unsorted. `buffer` is working space.
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

    /// Takes the items of a range in a form that can be read repeatedly.
    pub fn contents(&self, range: usize) -> RangeContents<'p, R> {
        RangeContents { range, contents: self.bins.take(range), records: self.records }
    }

    /// Returns the number of items of a range. It is exact once all writers have finished.
    pub fn len(&self, range: usize) -> u64 {
        let excess = self.excess[range].load(Ordering::Relaxed);
        self.bins.bytes(range).saturating_sub(excess) / self.records.bytes() as u64
    }

    /// Returns the number of ranges.
    pub fn ranges(&self) -> usize {
        self.bins.bins()
    }

    /// Returns the encoding of the items.
    pub fn records(&self) -> &R {
        &self.records
    }
}

/// A writer of scattered items for one worker. Buffered items are lost if [`finish`](Scattering::finish) is not
/// called.
pub struct Scattering<'s, 'p, R> {
    scatter: &'s Scatter<'p, R>,
    writer: Writer<'s, 'p>,
}

impl<R: Records> Scattering<'_, '_, R> {
    /// Adds an item.
    ///
    /// # Errors
    /// If the disk is full, or if memory is full and [`Storage::Ram`](crate::Storage::Ram) forbids spilling.
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

    /// Adds items. Prefetching lets their cache misses overlap.
    ///
    /// # Errors
    /// See [`Scattering::keep`].
    #[inline]
    pub fn keep_all(&mut self, items: &[R::Item]) -> Result<(), Error> {
        for &item in items {
            self.writer.prefetch(self.scatter.records.range(item));
        }
        items.iter().try_for_each(|&item| self.keep(item))
    }

    /// Flushes all buffered items.
    ///
    /// # Errors
    /// See [`Scattering::keep`].
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
    /// Calls `take` with whole records, as accepted by [`Scatter::append`]. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk cannot be read, or if `take` fails.
    pub fn read<E: From<Error>>(
        &self,
        buffer: &mut Vec<u8>,
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.contents.read(buffer, take)
    }

    /// Calls `take` with each item, in no particular order. `buffer` is working space.
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

    /// 64-bit numbers, ranged by their lowest byte.
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
                // Make some ranges far larger than others.
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
