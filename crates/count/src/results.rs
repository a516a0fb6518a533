//! From counted bins to one table sorted by k-mer: the kept k-mers of each bin are scattered by their first
//! bits, and each range of k-mers is sorted separately. The order of the k-mers does not depend on the
//! bins, threads or storage.

use merganser_kmers::Histogram;
use merganser_kmers::scattered::{KmerRecords, Scattered, ScatteredWriter};
use merganser_seq::kmer::Kmer;
use merganser_store::BlockPool;

use crate::cpu::KmerMap;
use crate::{Config, Error};

/// The kept k-mers, by range.
pub(crate) struct Results<'p, K> {
    scattered: Scattered<'p, K>,
    /// The smallest count that is kept.
    least: u32,
    /// The largest count that is kept.
    most: u32,
    /// Whether a table is wanted; otherwise only the histogram is filled.
    keep: bool,
    /// The largest number of k-mers that one worker sorts at a time.
    max_at_once: u64,
}

impl<'p, K: Kmer> Results<'p, K> {
    pub(crate) fn new(config: &Config, pool: &'p BlockPool) -> Results<'p, K> {
        Results {
            scattered: Scattered::new(KmerRecords::new(config.k), pool),
            least: config.least(),
            most: config.most(),
            keep: config.format != crate::Format::None,
            max_at_once: u64::MAX,
        }
    }

    /// Limits the number of k-mers that a worker sorts at a time to `most`.
    pub(crate) fn sorting(self, most: u64) -> Results<'p, K> {
        Results { max_at_once: most.max(1), ..self }
    }

    pub(crate) fn writer(&self) -> ResultsWriter<'_, 'p, K> {
        ResultsWriter {
            results: self,
            writer: self.scattered.writer(),
            histogram: Histogram::default(),
        }
    }

    /// Returns the scattered k-mers.
    pub(crate) fn scattered(&self) -> &Scattered<'p, K> {
        &self.scattered
    }

    pub(crate) fn max_at_once(&self) -> u64 {
        self.max_at_once
    }
}

/// One worker's writer to the results.
pub(crate) struct ResultsWriter<'s, 'p, K> {
    results: &'s Results<'p, K>,
    writer: ScatteredWriter<'s, 'p, K>,
    histogram: Histogram,
}

impl<K: Kmer> ResultsWriter<'_, '_, K> {
    /// Adds all k-mers of a bin with their total counts.
    pub(crate) fn add_map(&mut self, map: &KmerMap<K>) -> Result<(), Error> {
        let Results { least, most, keep, .. } = *self.results;
        let ResultsWriter { writer, histogram, .. } = self;
        map.read_out(histogram, least, if keep { most } else { 0 }, |kmers| {
            Ok(writer.keep_all(kmers)?)
        })
    }

    /// Adds a distinct k-mer with its total count.
    pub(crate) fn add(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        self.histogram.add(count);
        let Results { least, most, keep, .. } = *self.results;
        if keep && (least..=most).contains(&count) { self.keep(kmer, count) } else { Ok(()) }
    }

    /// Keeps a k-mer that does not occur, if such k-mers are wanted.
    pub(crate) fn keep_absent(&mut self, kmer: K) -> Result<(), Error> {
        if self.results.keep && self.results.least == 0 { self.keep(kmer, 0) } else { Ok(()) }
    }

    /// Keeps a k-mer that is already in the histogram and whose count is within the limits.
    #[inline(always)]
    pub(crate) fn keep(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        Ok(self.writer.keep((kmer, count))?)
    }

    pub(crate) fn finish(self) -> Result<Histogram, Error> {
        self.writer.finish()?;
        Ok(self.histogram)
    }
}
