//! From counted bins to one table sorted by k-mer.
//!
//! Each bin's k-mers are scattered by their first bits into ranges; each range is then sorted by
//! itself, in cache. No merge of the bins is needed, and the order is that of the k-mers whatever
//! the bins, threads or storage were.

mod sort;

use merganser_seq::kmer::Kmer;

use crate::cpu::Table;
use crate::histogram::Histogram;
use crate::store::{Contents, Pool, Store, Writer};
use crate::{Config, Error};

pub(crate) use sort::sort_range;

/// First bits by which k-mers are scattered, for k-mers that have as many.
const RANGE_BITS: u32 = 12;

/// Buffer bytes of a range in each worker.
const STRIDE: usize = 512;

/// Bytes that a worker's buffers take.
pub(crate) const WORKER_BYTES: u64 = (STRIDE as u64) << RANGE_BITS;

/// The number of ranges for k-mers of `k` bases.
pub(crate) fn ranges(k: usize) -> usize {
    1 << range_bits(k)
}

pub(crate) fn range_bits(k: usize) -> u32 {
    RANGE_BITS.min(2 * k as u32)
}

/// The k-mers that stay, by range.
pub(crate) struct Results<'p, K> {
    store: Store<'p>,
    k: usize,
    range_bits: u32,
    /// Counts that stay; empty if no table is wanted.
    least: u32,
    most: u32,
    keep: bool,
    /// k-mers that one worker sorts at a time.
    most_at_once: u64,
    width: std::marker::PhantomData<K>,
}

impl<'p, K: Kmer> Results<'p, K> {
    pub(crate) fn new(config: &Config, pool: &'p Pool) -> Results<'p, K> {
        Results {
            store: Store::new(pool, ranges(config.k)),
            k: config.k,
            range_bits: range_bits(config.k),
            least: config.min_count,
            most: config.max_count,
            keep: config.format != crate::Format::None,
            most_at_once: u64::MAX,
            width: std::marker::PhantomData,
        }
    }

    /// The same, of which no worker sorts more than `most` k-mers at a time.
    pub(crate) fn sorting(self, most: u64) -> Results<'p, K> {
        Results { most_at_once: most.max(1), ..self }
    }

    pub(crate) fn writer(&self) -> ResultsWriter<'_, 'p, K> {
        ResultsWriter {
            results: self,
            writer: Writer::new(&self.store, STRIDE),
            histogram: Histogram::default(),
        }
    }

    /// Takes a range's k-mers with their counts, unsorted. `buffer` is working space.
    pub(crate) fn take(
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
    pub(crate) fn contents(&self, range: usize) -> Contents<'p> {
        self.store.take(range)
    }

    pub(crate) fn most_at_once(&self) -> u64 {
        self.most_at_once
    }

    /// How many k-mers a range has.
    pub(crate) fn len(&self, range: usize) -> u64 {
        self.store.bytes(range) / (K::BYTES as u64 + 4)
    }

    pub(crate) fn pool(&self) -> &'p Pool {
        self.store.pool()
    }

    pub(crate) fn k(&self) -> usize {
        self.k
    }

    pub(crate) fn range_bits(&self) -> u32 {
        self.range_bits
    }
}

/// One worker's way into the results.
pub(crate) struct ResultsWriter<'s, 'p, K> {
    results: &'s Results<'p, K>,
    writer: Writer<'s, 'p>,
    histogram: Histogram,
}

impl<K: Kmer> ResultsWriter<'_, '_, K> {
    /// Takes all k-mers of a bin with their whole counts.
    pub(crate) fn add_table(&mut self, table: &Table<K>) -> Result<(), Error> {
        let Results { least, most, keep, .. } = *self.results;
        let mut histogram = std::mem::take(&mut self.histogram);
        table.read_out(&mut histogram, least, if keep { most } else { 0 }, |kmer, count| {
            self.keep(kmer, count)
        })?;
        self.histogram = histogram;
        Ok(())
    }

    /// Takes a distinct k-mer with its whole count.
    pub(crate) fn add(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        self.histogram.add(count);
        let Results { least, most, keep, .. } = *self.results;
        if keep && (least..=most).contains(&count) { self.keep(kmer, count) } else { Ok(()) }
    }

    /// Takes a k-mer that stays, and that the histogram has already.
    #[inline(always)]
    pub(crate) fn keep(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        let results = self.results;
        let range = kmer.prefix(results.k, results.range_bits) as usize;
        let record = self.writer.room(range, K::BYTES + 4)?;
        kmer.store(record);
        count.store(&mut record[K::BYTES..]);
        self.writer.commit(range, K::BYTES + 4);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Histogram, Error> {
        self.writer.finish()?;
        Ok(self.histogram)
    }
}
