//! From counted bins to one table sorted by k-mer: what stays of each bin is scattered by its first
//! bits, and each range of k-mers is sorted by itself. The order is that of the k-mers whatever the
//! bins, threads or storage were.

use merganser_kmers::Histogram;
use merganser_kmers::scattered::{KmerRecords, Scattered, ScatteredWriter};
use merganser_seq::kmer::Kmer;
use merganser_store::BlockPool;

use crate::cpu::KmerMap;
use crate::{Config, Error};

/// The k-mers that stay, by range.
pub(crate) struct Results<'p, K> {
    scattered: Scattered<'p, K>,
    /// Counts that stay; empty if no table is wanted.
    least: u32,
    most: u32,
    keep: bool,
    /// k-mers that one worker sorts at a time.
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

    /// The same, of which no worker sorts more than `most` k-mers at a time.
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

    /// The k-mers.
    pub(crate) fn scattered(&self) -> &Scattered<'p, K> {
        &self.scattered
    }

    pub(crate) fn max_at_once(&self) -> u64 {
        self.max_at_once
    }
}

/// One worker's way into the results.
pub(crate) struct ResultsWriter<'s, 'p, K> {
    results: &'s Results<'p, K>,
    writer: ScatteredWriter<'s, 'p, K>,
    histogram: Histogram,
}

impl<K: Kmer> ResultsWriter<'_, '_, K> {
    /// Takes all k-mers of a bin with their whole counts.
    pub(crate) fn add_map(&mut self, map: &KmerMap<K>) -> Result<(), Error> {
        let Results { least, most, keep, .. } = *self.results;
        let ResultsWriter { writer, histogram, .. } = self;
        map.read_out(histogram, least, if keep { most } else { 0 }, |kmers| {
            Ok(writer.keep_all(kmers)?)
        })
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
        Ok(self.writer.keep((kmer, count))?)
    }

    pub(crate) fn finish(self) -> Result<Histogram, Error> {
        self.writer.finish()?;
        Ok(self.histogram)
    }
}
