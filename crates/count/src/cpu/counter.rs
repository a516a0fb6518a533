//! Phase 2: the super-k-mers of a bin become distinct k-mers with counts (RapidGKC §III-C.3).
//!
//! The paper sorts; here a hash map counts, which is faster on a CPU wherever k-mers recur
//! (`docs/evidence/speed.md`) and whose memory depends only on the number of distinct k-mers. A bin with
//! more of them than the map may hold is counted in passes over parts of the hash range, so that the memory
//! limit holds for any skew of the input.

use merganser_kmers::Histogram;
use merganser_store::Contents;

use super::Width;
use super::dedupe::Dedupe;
use super::kmer_map::KmerMap;
use super::windows::Windows;
use crate::results::{Results, ResultsWriter};
use crate::superkmer::{MAX_KMERS, record_bytes, records};
use crate::{Config, Error};

/// The number of k-mers looked up together, so that their cache misses overlap.
const AT_ONCE: usize = 256;

/// One worker of phase 2.
pub(crate) struct Counter<'s, 'p, K: Width> {
    expander: Expander<K>,
    dedupe: Dedupe<K>,
    /// Distinct k-mers of the previous bin, the estimate for the next.
    expected: usize,
    buffer: Vec<u8>,
    results: ResultsWriter<'s, 'p, K>,
}

impl<'s, 'p, K: Width> Counter<'s, 'p, K> {
    /// Returns a worker whose maps take at most about `table_bytes`.
    pub(crate) fn new(config: &Config, table_bytes: u64, results: &'s Results<'p, K>) -> Self {
        Counter {
            expander: Expander {
                windows: Windows::new(config.k, config.is_canonical()),
                pass: Pass::default(),
                // While a map grows, the old one (half the size) is in memory too.
                map: KmerMap::new(table_bytes / 2),
                pending: Vec::with_capacity(AT_ONCE + MAX_KMERS),
            },
            dedupe: Dedupe::new(table_bytes / 4),
            expected: 0,
            buffer: Vec::new(),
            results: results.writer(),
        }
    }

    /// Counts one bin and passes its k-mers to the results.
    pub(crate) fn count(&mut self, bin: &Contents<'_>) -> Result<(), Error> {
        self.count_pass(bin, Pass::default())
    }

    /// Flushes the results and returns the worker's part of the histogram.
    pub(crate) fn finish(self) -> Result<Histogram, Error> {
        self.results.finish()
    }

    /// Counts the k-mers of a pass; splits the pass in two if the map cannot hold it.
    fn count_pass(&mut self, bin: &Contents<'_>, pass: Pass) -> Result<(), Error> {
        self.expander.begin(pass, self.expected >> pass.bits);
        if !self.fill(bin)? {
            return pass.halves().into_iter().try_for_each(|half| self.count_pass(bin, half));
        }
        let map = &self.expander.map;
        self.expected = map.len() << pass.bits;
        self.results.add_map(map)
    }

    /// Fills the map; returns false if it cannot hold the k-mers of the pass.
    fn fill(&mut self, bin: &Contents<'_>) -> Result<bool, Error> {
        let (expander, dedupe) = (&mut self.expander, &mut self.dedupe);
        let max_records = bin.bytes() as usize / record_bytes(1, expander.windows.k()) + 1;
        let mut gathering = dedupe.start(max_records);
        let mut gathered = 0;
        let mut fits = true;
        bin.read(&mut self.buffer, |block| {
            for record in records(block, expander.windows.k()) {
                if !fits {
                    break;
                }
                if gathering && dedupe.add(record.rest, record.len) {
                    gathered += 1;
                    if gathered == dedupe.most() {
                        fits = expander.drain(dedupe);
                        gathering = dedupe.start(max_records);
                        gathered = 0;
                    }
                } else {
                    fits = expander.expand(record.bases(), record.kmers, 1);
                }
            }
            Ok::<_, Error>(())
        })?;
        if gathering {
            fits &= expander.drain(dedupe);
        }
        Ok(expander.settle() && fits)
    }
}

/// A pass over the k-mers whose hash ends in the `bits` bits of `value`.
#[derive(Clone, Copy, Default)]
struct Pass {
    bits: u32,
    value: u64,
}

impl Pass {
    #[inline(always)]
    fn takes(self, hash: u64) -> bool {
        hash & ((1 << self.bits) - 1) == self.value
    }

    fn halves(self) -> [Pass; 2] {
        let bits = self.bits + 1;
        [Pass { bits, ..self }, Pass { bits, value: self.value | 1 << self.bits }]
    }
}

/// The expansion of super-k-mers to counted k-mers.
struct Expander<K> {
    windows: Windows<K>,
    pass: Pass,
    map: KmerMap<K>,
    /// k-mers that are not in the map yet, with their hashes and weights.
    pending: Vec<(K, u64, u32)>,
}

impl<K: Width> Expander<K> {
    /// Starts a pass of about `expected` distinct k-mers.
    fn begin(&mut self, pass: Pass, expected: usize) {
        self.pass = pass;
        self.pending.clear();
        self.map.clear(expected);
    }

    /// Expands the deduplicated records; returns false if the map is full.
    fn drain(&mut self, dedupe: &mut Dedupe<K>) -> bool {
        let mut fits = true;
        dedupe.drain(|record, weight| {
            let kmers = usize::from(record[0]) + 1;
            let bases = &record[1..];
            fits = fits && self.expand((bases, bases.len()), kmers, weight);
        });
        fits
    }

    /// Adds each of the `kmers` k-mers of a super-k-mer, given as [`Windows::each`] wants it, `weight` times; returns
    /// false if the map is full.
    #[inline(always)]
    fn expand(&mut self, bases: (&[u8], usize), kmers: usize, weight: u32) -> bool {
        let Expander { windows, pass, map, pending } = self;
        windows.each(bases, kmers, |kmer, hash| {
            if pass.takes(hash) {
                map.prefetch(hash);
                pending.push((kmer, hash, weight));
            }
        });
        pending.len() < AT_ONCE || self.settle()
    }

    /// Adds the pending k-mers to the map; returns false if it is full.
    fn settle(&mut self) -> bool {
        let fits = self.map.add_all(&self.pending);
        self.pending.clear();
        fits
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use merganser_run::Context;
    use merganser_run::options::Auto;
    use merganser_seq::base;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    use crate::{Config, run_in_memory};

    /// Counts canonical k-mers one by one.
    fn plain(reads: &[&[u8]], k: usize) -> BTreeMap<Vec<u8>, u32> {
        let complement = |letter: &u8| b"TGCA"[base::code(*letter).map_or(0, usize::from)];
        let mut counts = BTreeMap::new();
        for kmer in reads.iter().flat_map(|read| read.windows(k)) {
            let other: Vec<u8> = kmer.iter().rev().map(complement).collect();
            *counts.entry(other.min(kmer.to_vec())).or_insert(0) += 1;
        }
        counts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn kmers_are_counted_however_many_a_bin_has(
            seed in any::<u64>(), k in prop_oneof![Just(13usize), Just(21), Just(40), Just(70)], repeats in 1u64..8,
        ) {
            let mut random = Random(seed);
            let genome = random.bases(150_000);
            let reads: Vec<&[u8]> = (0..800 * repeats)
                .map(|_| &genome[random.below(genome.len() - 400)..][..400])
                .collect();
            let expected = plain(&reads, k);
            let text: Vec<u8> = reads.iter().flat_map(|read| [b">\n", *read, b"\n"].concat()).collect();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("reads.fa");
            std::fs::write(&path, text).unwrap();
            // One bin with memory for one pass, one bin with memory for several, and enough bins for longer signatures.
            for (bins, memory) in [(1, 1 << 30), (1, 64 << 20), (16384, 1 << 30)] {
                let bins = Auto(Some(bins));
                let config = Config { bins, min_count: Some(1), ..Config::new(k) };
                let context = Context::new().threads(1).memory(memory);
                let (_, table) = run_in_memory(&config, [path.clone()], &context).unwrap();
                let found = table.iter().map(|(kmer, count)| (kmer.into_bytes(), count));
                prop_assert!(found.eq(expected.iter().map(|(kmer, &count)| (kmer.clone(), count))));
            }
        }
    }
}
