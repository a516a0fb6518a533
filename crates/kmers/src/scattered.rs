//! k-mers that come in any order, scattered by their first bits into ranges.
//!
//! Each range is then sorted by itself, in cache: no merge is needed, and the order is that of the
//! k-mers, whatever order they came in and wherever they waited.

mod sort;

use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::store::{Contents, Pool, Store, Writer};

pub use sort::sort_range;

/// First bits by which k-mers are scattered, for k-mers that have as many.
const RANGE_BITS: u32 = 12;

/// Buffer bytes of a range in each worker.
const STRIDE: usize = 512;

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
    width: std::marker::PhantomData<K>,
}

impl<'p, K: Kmer> Scattered<'p, K> {
    /// None yet, of k-mers of `k` bases, which wait in `pool`.
    pub fn new(k: usize, pool: &'p Pool) -> Scattered<'p, K> {
        Scattered {
            store: Store::new(pool, ranges(k)),
            k,
            range_bits: range_bits(k),
            width: std::marker::PhantomData,
        }
    }

    /// One worker's way in.
    pub fn writer(&self) -> Scattering<'_, 'p, K> {
        Scattering { scattered: self, writer: Writer::new(&self.store, STRIDE) }
    }

    /// Adds k-mers of one range, a block of them at a time. `buffer` is working space.
    ///
    /// # Errors
    /// If the disk is full, or memory is and none is to be used.
    pub fn append(
        &self,
        range: usize,
        mut kmers: impl ExactSizeIterator<Item = (K, u32)>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let record = K::BYTES + 4;
        let at_once = (self.pool().block_bytes() / record).max(1);
        while kmers.len() > 0 {
            buffer.resize(kmers.len().min(at_once) * record, 0);
            for (record, (kmer, count)) in buffer.chunks_exact_mut(record).zip(&mut kmers) {
                kmer.store(record);
                count.store(&mut record[K::BYTES..]);
            }
            self.store.append(range, buffer)?;
        }
        Ok(())
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
        self.store.take(range).read(buffer, |block| {
            kmers.extend(block.chunks_exact(K::BYTES + 4).map(|record| {
                let count = u32::load(&record[K::BYTES..]);
                (K::load(record), count)
            }));
            Ok(())
        })
    }

    /// Takes a range's k-mers, to be read as often as one likes.
    pub fn contents(&self, range: usize) -> Contents<'p> {
        self.store.take(range)
    }

    /// How many k-mers a range has.
    pub fn len(&self, range: usize) -> u64 {
        self.store.bytes(range) / (K::BYTES as u64 + 4)
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
        let record = self.writer.room(range, K::BYTES + 4)?;
        kmer.store(record);
        count.store(&mut record[K::BYTES..]);
        self.writer.commit(range, K::BYTES + 4);
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

/// Gives `take` the k-mers of a range, in no order.
///
/// # Errors
/// If the disk cannot be read.
pub fn each_of<K: Kmer>(
    contents: &Contents<'_>,
    buffer: &mut Vec<u8>,
    mut take: impl FnMut(K, u32),
) -> Result<(), Error> {
    contents.read(buffer, |block| {
        block.chunks_exact(K::BYTES + 4).for_each(|record| {
            take(K::load(record), u32::load(&record[K::BYTES..]));
        });
        Ok(())
    })
}
