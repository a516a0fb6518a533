//! k-mers that come in any order, scattered by their first bits into ranges.
//!
//! Each range is then sorted by itself, in cache: no merge is needed, and the order is that of the
//! k-mers, whatever order they came in and wherever they waited.

mod record;
mod sort;

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::store::{Contents, Pool, Store, Writer};

use record::Records;

pub use sort::sort_range;

/// First bits by which k-mers are scattered, for k-mers that have as many.
const RANGE_BITS: u32 = 12;

/// Buffer bytes of a range in each worker.
const STRIDE: usize = 512;

/// Bytes that a record with a large count, 255 or more, takes beyond [`Scattered::record_bytes`].
pub const LARGE_COUNT_BYTES: usize = 4;

/// Bytes of records that are appended at a time, far less than a block: what a block has no room for
/// goes to the next one.
const APPENDED: usize = 2 << 10;

/// Bytes that a worker's buffers take.
pub const WORKER_BYTES: u64 = (STRIDE as u64) << RANGE_BITS;

/// The number of ranges for k-mers of `k` bases.
pub fn ranges(k: usize) -> usize {
    1 << range_bits(k)
}

/// First bits of a k-mer of `k` bases that choose its range.
pub fn range_bits(k: usize) -> u32 {
    RANGE_BITS.min(2 * k as u32)
}

/// Distinct k-mers with their counts, by range.
pub struct Scattered<'p, K> {
    store: Store<'p>,
    k: usize,
    range_bits: u32,
    records: Records<K>,
    /// The number of large counts in each range.
    large: Vec<AtomicU64>,
}

impl<'p, K: Kmer> Scattered<'p, K> {
    /// None yet, of k-mers of `k` bases, which wait in `pool`.
    pub fn new(k: usize, pool: &'p Pool) -> Scattered<'p, K> {
        Scattered {
            store: Store::new(pool, ranges(k)),
            k,
            range_bits: range_bits(k),
            records: Records::new(k, range_bits(k)),
            large: (0..ranges(k)).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// One worker's way in.
    pub fn writer(&self) -> Scattering<'_, 'p, K> {
        Scattering { scattered: self, writer: Writer::new(&self.store, STRIDE) }
    }

    /// Adds records of one range, whose counts are all `large`, 255 or more, or none. A record is the
    /// bytes of the k-mer's bits behind those of the range, the lowest first, and the count in a byte;
    /// or 255, and the count in four bytes, little-endian.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    ///
    /// # Panics
    /// If they are no whole records.
    pub fn append(&self, range: usize, records: &[u8], large: bool) -> Result<(), Error> {
        let bytes = self.record_bytes() + if large { LARGE_COUNT_BYTES } else { 0 };
        assert!(records.len().is_multiple_of(bytes), "a part of a record");
        if large {
            self.large[range].fetch_add((records.len() / bytes) as u64, Ordering::Relaxed);
        }
        let mut parts = records.chunks(APPENDED / bytes * bytes);
        parts.try_for_each(|part| self.store.append(range, part))
    }

    /// Bytes of a record whose count is not large.
    pub fn record_bytes(&self) -> usize {
        self.records.bytes()
    }

    /// Takes a range's k-mers with their counts, unsorted. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn take(
        &self,
        range: usize,
        buffer: &mut Vec<u8>,
        kmers: &mut Vec<(K, u32)>,
    ) -> Result<(), Error> {
        kmers.clear();
        kmers.reserve(self.len(range) as usize);
        self.contents(range).each(buffer, |kmer, count| kmers.push((kmer, count)))
    }

    /// Takes a range's k-mers, to be read as often as one likes.
    pub fn contents(&self, range: usize) -> RangeContents<'p, K> {
        RangeContents { range, contents: self.store.take(range), records: self.records }
    }

    /// How many k-mers a range has, once all writers have finished.
    pub fn len(&self, range: usize) -> u64 {
        let large = self.large[range].load(Ordering::Relaxed) * LARGE_COUNT_BYTES as u64;
        self.store.bytes(range).saturating_sub(large) / self.records.bytes() as u64
    }

    /// Where the k-mers wait.
    pub fn pool(&self) -> &'p Pool {
        self.store.pool()
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// First bits of a k-mer that choose its range.
    pub fn range_bits(&self) -> u32 {
        self.range_bits
    }
}

/// One worker's way into scattered k-mers.
pub struct Scattering<'s, 'p, K> {
    scattered: &'s Scattered<'p, K>,
    writer: Writer<'s, 'p>,
}

impl<K: Kmer> Scattering<'_, '_, K> {
    /// Takes a k-mer.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    #[inline(always)]
    pub fn keep(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        let scattered = self.scattered;
        let range = kmer.prefix(scattered.k, scattered.range_bits) as usize;
        let room = self.writer.room(range, Records::<K>::MOST)?;
        let took = scattered.records.put(kmer, count, room);
        self.writer.commit(range, took);
        if Records::<K>::is_large(count) {
            scattered.large[range].fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes k-mers, whose cache misses overlap.
    ///
    /// # Errors
    /// As [`Scattering::keep`].
    #[inline]
    pub fn keep_all(&mut self, kmers: &[(K, u32)]) -> Result<(), Error> {
        let (k, bits) = (self.scattered.k, self.scattered.range_bits);
        for &(kmer, _) in kmers {
            self.writer.prefetch(kmer.prefix(k, bits) as usize);
        }
        kmers.iter().try_for_each(|&(kmer, count)| self.keep(kmer, count))
    }

    /// Hands over what the worker still has.
    ///
    /// # Errors
    /// As [`Scattering::keep`].
    pub fn finish(self) -> Result<(), Error> {
        self.writer.finish()
    }
}

/// The k-mers of one range.
pub struct RangeContents<'p, K> {
    range: usize,
    contents: Contents<'p>,
    records: Records<K>,
}

impl<K: Kmer> RangeContents<'_, K> {
    /// Gives `take` whole records at a time, as [`Scattered::append`] has them. `buffer` is working
    /// space.
    ///
    /// # Errors
    /// If the disk cannot be read, and what `take` returns.
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.contents.read(buffer, take)
    }

    /// Gives `take` the k-mers with their counts, in no order. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn each(&self, buffer: &mut Vec<u8>, mut take: impl FnMut(K, u32)) -> Result<(), Error> {
        self.contents.read(buffer, |block| {
            self.records.each(self.range, block, &mut take);
            Ok(())
        })
    }
}
