//! Pooling: counts the features of a read that all targets of a taxon have together, for candidates that are nearly
//! as good as the best one.
//!
//! A strain without a reference shares some of its alleles with one strain of its species and some with another: no
//! single strain has all the features that they have together. (Kraken 2 pools implicitly, as each of its k-mers
//! stores the common ancestor of all genomes that have it.)

use std::ops::Range;

use super::lookup::Lookup;
use super::{HostQuery, Part, Scratch};
use crate::candidates::{Candidate, Seen, tell_pooled};

/// Bits of the index in the cache of windows.
const PLACE_BITS: u32 = 10;

/// The pooled candidates that have each feature of a read, one bit for each candidate; a thread's own.
#[derive(Debug)]
pub(super) struct CandidateFeatures {
    /// The bits for each feature of the read.
    seen: Vec<u64>,
    /// The bits of all candidates.
    all: u64,
    /// A cache of windows: the number of the read with the window, and the bit of the window's taxon among the
    /// candidates.
    known: Vec<(u64, u64)>,
    read: u32,
}

impl CandidateFeatures {
    pub(super) fn new() -> CandidateFeatures {
        CandidateFeatures { seen: Vec::new(), all: 0, known: Vec::new(), read: 0 }
    }

    /// Starts a read with the given number of features and of near candidates (1 to 64).
    pub(super) fn begin(&mut self, features: usize, near: usize) {
        self.seen.clear();
        self.seen.resize(features, 0);
        self.all = u64::MAX >> (64 - near);
        self.read = self.read.wrapping_add(1);
        if self.known.is_empty() || self.read == 0 {
            // The cache must not have entries of this read; no read has the number 0.
            self.known.clear();
            self.known.resize(1 << PLACE_BITS, (0, 0));
            self.read = 1;
        }
    }

    /// Sets the number of features of each candidate.
    pub(super) fn finish(&self, near: &mut [Candidate]) {
        tell_pooled(&self.seen, near);
    }
}

impl HostQuery<'_> {
    /// Returns the bit of a window's taxon among `near`; 0 if no candidate has it.
    fn bit_of(&self, window: u32, near: &[Candidate]) -> u64 {
        let taxon = self.target_of(window).map(|target| self.taxa().taxa[target as usize]);
        let place = near.iter().position(|one| Some(one.taxon) == taxon);
        place.map_or(0, |place| 1 << place)
    }

    /// Notes which of `near` have the read's features, which `lookup` has found under the numbers from `first` on.
    pub(super) fn see(
        &self,
        part: &Part<'_>,
        lookup: &Lookup,
        first: usize,
        near: &[Candidate],
        pool: &mut CandidateFeatures,
    ) {
        for at in 0..pool.seen.len() {
            self.see_one(part, lookup, first + at, near, (pool, at));
        }
    }

    /// Notes which of `near` have a feature of `lookup`, under index `at` of the pool.
    #[inline(always)]
    pub(super) fn see_one(
        &self,
        part: &Part<'_>,
        lookup: &Lookup,
        feature: usize,
        near: &[Candidate],
        (CandidateFeatures { seen, all, known, read }, at): (&mut CandidateFeatures, usize),
    ) {
        let read = u64::from(*read) << 32;
        lookup.each(&part.sections, feature..feature + 1, |locations| {
            for &location in locations {
                if seen[at] == *all {
                    return;
                }
                let window = part.window(location);
                let place = window.wrapping_mul(0x9e37_79b1) >> (32 - PLACE_BITS);
                let known = &mut known[place as usize];
                if known.0 != read | u64::from(window) {
                    *known = (read | u64::from(window), self.bit_of(window, near));
                }
                seen[at] |= known.1;
            }
        });
    }

    /// Returns the number of a read's candidates to pool.
    pub(super) fn count_near(&self, mates: &[&[u8]; 2], candidates: &[Candidate]) -> usize {
        let bases = (mates[0].len() + mates[1].len()) as u64;
        self.params().count_near(bases, candidates, &self.taxa().several)
    }

    /// Returns the reads whose candidates are to be pooled: their numbers and the ranges of these candidates. The
    /// last argument has the start of the first read's candidates, and the end of each read's.
    pub(crate) fn near_reads(
        &self,
        reads: &[[&[u8]; 2]],
        candidates: &[Candidate],
        (start, ends): (usize, &[usize]),
    ) -> Vec<(usize, Range<usize>)> {
        let starts = std::iter::once(start).chain(ends.iter().copied());
        let of_read = |(number, (mates, (start, &end)))| {
            let count = self.count_near(mates, &candidates[start..end]);
            (count > 0).then_some((number, start..start + count))
        };
        reads.iter().zip(starts.zip(ends)).enumerate().filter_map(of_read).collect()
    }

    /// Pools the candidates of reads that were found on devices or part by part. `places` has the start of the
    /// first read's candidates, and the end of each read's. Queries all parts.
    pub(crate) fn pool(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut [Candidate],
        places: (usize, &[usize]),
    ) {
        let near = self.near_reads(reads, candidates, places);
        let mut seen = Seen::default();
        self.look_again(reads, scratch, candidates, &near, &mut seen);
        seen.tell(candidates, &near);
    }

    /// Notes which near candidates have the features of the reads that are to be pooled, in the parts to query now.
    /// Adds to what other parts found.
    pub(crate) fn look_again(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &[Candidate],
        near: &[(usize, Range<usize>)],
        seen: &mut Seen,
    ) {
        let parts = self.asked(scratch);
        let (chosen, near): (Vec<_>, Vec<_>) =
            near.iter().map(|(read, near)| (reads[*read], &candidates[near.clone()])).unzip();
        let (mut rest, mut done) = (&chosen[..], 0);
        while !rest.is_empty() {
            let count = self.sketch(rest.iter(), scratch);
            for part in parts {
                scratch.lookup.look_up(&part.sections, &scratch.features);
                let mut feature = 0;
                for number in 0..count {
                    let end = scratch.ends[number];
                    let Scratch { lookup, pool, .. } = &mut *scratch;
                    let near = near[done + number];
                    pool.begin(end - feature, near.len());
                    self.see(part, lookup, feature, near, pool);
                    feature = end;
                    seen.add(done + number, &pool.seen);
                }
            }
            (rest, done) = (&rest[count..], done + count);
        }
    }
}
