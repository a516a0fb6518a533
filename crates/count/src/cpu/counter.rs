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
use crate::results::{Results, ResultsWriter};
use crate::superkmer::record_bytes;
use crate::{Config, Error};

/// The number of k-mers looked up together, so that their cache misses overlap.
const AT_ONCE: usize = 256;

/// The number of bases taken from one word of 32: up to three leading bases may precede the wanted position.
const BASES_AT_ONCE: usize = 29;

/// The size in bytes of a padded record: bases are read beyond a record's end.
const PADDED: usize = 160;

/// One worker of phase 2.
pub(crate) struct Counter<'s, 'p, K: Width> {
    expander: Expander<K>,
    dedupe: Dedupe<K>,
    /// Distinct k-mers of the previous bin, the estimate for the next.
    expected: usize,
    buffer: Vec<u8>,
    results: ResultsWriter<'s, 'p, K>,
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

impl<'s, 'p, K: Width> Counter<'s, 'p, K> {
    /// Returns a worker whose map takes at most `table_bytes`.
    pub(crate) fn new(config: &Config, table_bytes: u64, results: &'s Results<'p, K>) -> Self {
        Counter {
            expander: Expander {
                k: config.k,
                canonical: config.is_canonical(),
                first: [0, 1, 2, 3].map(|code| K::default().push_complement(code, config.k)),
                pass: Pass::default(),
                map: KmerMap::new(table_bytes),
                pending: Vec::with_capacity(AT_ONCE),
            },
            dedupe: Dedupe::new(),
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
        self.expander.pass = pass;
        self.expander.map.clear(self.expected >> pass.bits);
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
        let max_records = bin.bytes() as usize / record_bytes(1, expander.k) + 1;
        let mut gathering = dedupe.start(max_records);
        let mut gathered = 0;
        let mut fits = true;
        bin.read(&mut self.buffer, |block| {
            let mut at = 0;
            while fits && at < block.len() {
                let kmers = usize::from(block[at]) + 1;
                let len = record_bytes(kmers, expander.k);
                if gathering && dedupe.add(&block[at..], len) {
                    gathered += 1;
                    if gathered == Dedupe::<K>::GROUP {
                        fits = expander.drain(dedupe);
                        gathering = dedupe.start(max_records);
                        gathered = 0;
                    }
                } else {
                    fits = expander.expand_record(&block[at + 1..], len - 1, kmers);
                }
                at += len;
            }
            Ok::<_, Error>(())
        })?;
        if gathering {
            fits &= expander.drain(dedupe);
        }
        Ok(expander.settle() && fits)
    }
}

/// The expansion of super-k-mers to counted k-mers.
struct Expander<K> {
    k: usize,
    canonical: bool,
    /// The complement of each base, shifted to the first base of a k-mer.
    first: [K; 4],
    pass: Pass,
    map: KmerMap<K>,
    pending: Vec<(K, u64, u32)>,
}

impl<K: Width> Expander<K> {
    /// Expands the deduplicated records; returns false if the map is full.
    fn drain(&mut self, dedupe: &mut Dedupe<K>) -> bool {
        let mut fits = true;
        dedupe.drain(|record, weight| {
            let kmers = usize::from(record[0]) + 1;
            fits = fits && self.expand(&record[1..], kmers, weight);
        });
        fits
    }

    /// Expands the record whose bases are the first `len` bytes of `bases`; returns false if the map is full.
    #[inline(always)]
    fn expand_record(&mut self, bases: &[u8], len: usize, kmers: usize) -> bool {
        if bases.len() >= K::BYTES {
            return self.expand(bases, kmers, 1);
        }
        let mut padded = [0; PADDED];
        padded[..len].copy_from_slice(&bases[..len]);
        self.expand(&padded, kmers, 1)
    }

    /// Adds each of the `kmers` k-mers of a super-k-mer `weight` times; returns false if the map is full.
    #[inline(always)]
    fn expand(&mut self, bases: &[u8], kmers: usize, weight: u32) -> bool {
        let (k, mask, canonical, pass) = (self.k, K::mask(self.k), self.canonical, self.pass);
        let mut forward = K::from_packed(bases, k);
        let mut reverse = if canonical { forward.reverse_complement(k) } else { forward };
        for from in (0..kmers).step_by(BASES_AT_ONCE) {
            let mut codes = word_at(bases, k + from);
            let steps = BASES_AT_ONCE.min(kmers - from);
            let (map, first) = (&self.map, &self.first);
            let next = (0..steps).map(|_| {
                let kmer = forward.least(reverse);
                let hash = kmer.hash();
                map.prefetch(hash);
                // Bits after the last base are padding or the next record: never used.
                let code = (codes >> 62) as u8;
                codes <<= 2;
                forward = forward.push(code, mask);
                reverse =
                    if canonical { reverse.shr(2).or(first[usize::from(code)]) } else { forward };
                (kmer, hash, weight)
            });
            if pass.bits == 0 {
                self.pending.extend(next);
            } else {
                self.pending.extend(next.filter(|&(_, hash, _)| pass.takes(hash)));
            }
        }
        self.pending.len() < AT_ONCE || self.settle()
    }

    /// Adds the pending k-mers to the map; returns false if it is full.
    #[inline]
    fn settle(&mut self) -> bool {
        let fits = self.map.reserve(self.pending.len());
        if fits {
            for &(_, hash, _) in &self.pending {
                self.map.prefetch_likely(hash);
            }
            for &(kmer, hash, weight) in &self.pending {
                self.map.add(kmer, hash, weight);
            }
        }
        self.pending.clear();
        fits
    }
}

/// Returns the bases from base `at` on in the top bits of a word: at least 29 unless the input ends before.
#[inline(always)]
fn word_at(bases: &[u8], at: usize) -> u64 {
    let rest = bases.get(at / 4..).unwrap_or_default();
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    u64::from_be_bytes(bytes) << (2 * (at % 4))
}
