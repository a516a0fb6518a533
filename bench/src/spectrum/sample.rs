//! Simulates the k-mer histogram of reads that are drawn from haplotypes.

use std::collections::BTreeMap;

use crate::rng::Rng;

pub(super) const K: usize = 21;
/// Bases per read.
const READ: usize = 100;
/// Errors per base.
const ERRORS: f64 = 0.005;
/// Bases per block of uniform coverage.
const BLOCK: usize = 500;
/// Relative deviation of the coverage of blocks.
const UNEVEN: f64 = 0.2;

/// Returns the histogram of reads that cover each haplotype `depth` times.
///
/// Every k-mer with an error is assumed to be unique.
pub(super) fn histogram(haplotypes: &[Vec<u8>], depth: f64, rng: &mut Rng) -> Vec<(u32, u64)> {
    let mut kmers = Vec::new();
    let mut errors = 0;
    for haplotype in haplotypes {
        let (counts, wrong) = counts(haplotype.len(), depth, rng);
        errors += wrong;
        kmers.extend(words(haplotype).zip(counts).filter(|(_, count)| *count > 0));
    }
    kmers.sort_unstable();
    let mut histogram = BTreeMap::from([(1, errors)]);
    for same in kmers.chunk_by(|one, other| one.0 == other.0) {
        *histogram.entry(same.iter().map(|(_, count)| count).sum()).or_default() += 1;
    }
    histogram.into_iter().collect()
}

/// Returns how often the k-mer at each position of a haplotype is read without an error, and the number of k-mers
/// with one.
fn counts(bases: usize, depth: f64, rng: &mut Rng) -> (Vec<u32>, u64) {
    let evenness: Vec<f64> =
        (0..=bases / BLOCK).map(|_| 1.0 + UNEVEN * (2.0 * rng.uniform() - 1.0)).collect();
    let mut counts = vec![0; bases + 1 - K];
    let (mut wrong, mut reads) = (0, (bases as f64 * depth / READ as f64) as usize);
    while reads > 0 {
        let start = (rng.uniform() * (bases + 1 - READ) as f64) as usize;
        if rng.uniform() * (1.0 + UNEVEN) > evenness[start / BLOCK] {
            continue;
        }
        reads -= 1;
        // K-mers up to the next error are right.
        let mut from = 0;
        loop {
            let error = from + (rng.uniform().max(1e-300).ln() / (1.0 - ERRORS).ln()) as usize;
            let end = error.min(READ);
            for place in from..(end + 1).saturating_sub(K) {
                counts[start + place] += 1;
            }
            if error >= READ {
                break;
            }
            let first = (error + 1).saturating_sub(K).max(from);
            wrong += (error.min(READ - K) + 1).saturating_sub(first) as u64;
            from = error + 1;
        }
    }
    (counts, wrong)
}

/// Returns the k-mers of a haplotype, two bits per base.
fn words(haplotype: &[u8]) -> impl Iterator<Item = u64> + '_ {
    haplotype
        .windows(K)
        .map(|bases| bases.iter().fold(0, |word, base| word << 2 | u64::from(*base)))
}
