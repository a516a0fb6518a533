//! k-mers that come in any order, gathered by their first bits and sorted range by range.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use merganser_seq::kmer::Kmer;

use super::mgk::keep_range;
use super::{Description, RangeReader, Ranges, bad};
use crate::results::{Results, ResultsWriter, sort_range};
use crate::store::Pool;
use crate::{Config, Error, Format};

/// The gathered k-mers of one table.
pub(super) struct Gathered<'p, K> {
    path: PathBuf,
    results: Results<'p, K>,
    kmers: u64,
    largest: AtomicU32,
}

impl<'p, K: Kmer> Gathered<'p, K> {
    pub(super) fn new(path: &Path, table: &Description, pool: &'p Pool) -> Gathered<'p, K> {
        let config = Config { min_count: 1, format: Format::Mgk, ..Config::new(table.k) };
        let results = Results::new(&config, pool);
        Gathered { path: path.to_owned(), results, kmers: 0, largest: AtomicU32::new(0) }
    }

    pub(super) fn k(&self) -> usize {
        self.results.k()
    }

    /// One worker's way in.
    pub(super) fn writer(&self) -> Gathering<'_, 'p, K> {
        Gathering { gathered: self, writer: self.results.writer(), largest: Cell::new(0) }
    }

    /// To be called when all writers have finished.
    pub(super) fn gathered(mut self) -> Gathered<'p, K> {
        self.kmers = (0..1usize << self.results.range_bits()).map(|r| self.results.len(r)).sum();
        self
    }
}

/// Takes k-mers.
pub(super) struct Gathering<'g, 'p, K> {
    gathered: &'g Gathered<'p, K>,
    writer: ResultsWriter<'g, 'p, K>,
    largest: Cell<u32>,
}

impl<K: Kmer> Gathering<'_, '_, K> {
    #[inline(always)]
    pub(super) fn add(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        self.largest.set(self.largest.get().max(count));
        self.writer.keep(kmer, count)
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.gathered.largest.fetch_max(self.largest.get(), Ordering::Relaxed);
        self.writer.finish().map(drop)
    }
}

impl<K: Kmer> Ranges<K> for Gathered<'_, K> {
    fn kmers(&self) -> u64 {
        self.kmers
    }

    fn largest_count(&self) -> u32 {
        self.largest.load(Ordering::Relaxed)
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        let (buffer, range, swap) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(GatheredReader { gathered: self, loaded: None, buffer, range, swap })
    }
}

struct GatheredReader<'g, 'p, K> {
    gathered: &'g Gathered<'p, K>,
    /// The number of what is in `range`, sorted.
    loaded: Option<usize>,
    buffer: Vec<u8>,
    range: Vec<(K, u32)>,
    swap: Vec<(K, u32)>,
}

impl<K: Kmer> GatheredReader<'_, '_, K> {
    fn load(&mut self, range: usize) -> Result<(), Error> {
        if self.loaded == Some(range) {
            return Ok(());
        }
        let results = &self.gathered.results;
        results.take(range, &mut self.buffer, &mut self.range)?;
        sort_range(&mut self.range, &mut self.swap, results.k(), results.range_bits());
        self.loaded = Some(range);
        if let Some(pair) = self.range.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let mut letters = Vec::new();
            pair[0].0.write_letters(results.k(), &mut letters);
            let kmer = String::from_utf8_lossy(&letters);
            let reason = format!("the k-mer {kmer} stands in it more than once: not a table");
            return Err(bad(&self.gathered.path, reason));
        }
        Ok(())
    }
}

impl<K: Kmer> RangeReader<K> for GatheredReader<'_, '_, K> {
    fn at_most(&mut self, prefix: u32, bits: u32) -> Result<u64, Error> {
        let results = &self.gathered.results;
        let own = results.range_bits();
        if bits <= own {
            let finer = own - bits;
            let ranges = (prefix as usize) << finer..(prefix as usize + 1) << finer;
            return Ok(ranges.map(|range| results.len(range)).sum());
        }
        self.load((prefix >> (bits - own)) as usize)?;
        let k = self.gathered.k();
        let (first, last) = super::mgk::ends::<K>(k, prefix, bits);
        let end = self.range.partition_point(|&(kmer, _)| kmer <= last);
        let start = self.range.partition_point(|&(kmer, _)| kmer < first);
        Ok((end - start) as u64)
    }

    fn read(&mut self, prefix: u32, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let own = self.gathered.results.range_bits();
        if bits <= own {
            let finer = own - bits;
            for range in (prefix as usize) << finer..(prefix as usize + 1) << finer {
                self.load(range)?;
                kmers.extend_from_slice(&self.range);
            }
            return Ok(());
        }
        self.load((prefix >> (bits - own)) as usize)?;
        let k = self.gathered.k();
        let (first, last) = super::mgk::ends::<K>(k, prefix, bits);
        let end = self.range.partition_point(|&(kmer, _)| kmer <= last);
        let start = self.range.partition_point(|&(kmer, _)| kmer < first);
        kmers.extend_from_slice(&self.range[start..end]);
        keep_range(kmers, k, prefix, bits);
        Ok(())
    }
}
