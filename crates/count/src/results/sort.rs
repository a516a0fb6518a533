//! Sorting one range of k-mers.

use merganser_seq::kmer::Kmer;

/// k-mers of a bucket that insertion or comparison sort finishes.
const PER_BUCKET: usize = 4;
/// The most bits of one distribution step.
const MOST_BITS: u32 = 12;

/// Sorts distinct k-mers of `k` bases whose first `range_bits` bits are all the same: one
/// distribution by the bits that follow, into buckets of a few, then each bucket by comparison.
/// `swap` is working space.
pub(crate) fn sort_range<K: Kmer>(
    kmers: &mut Vec<(K, u32)>,
    swap: &mut Vec<(K, u32)>,
    k: usize,
    range_bits: u32,
) {
    let left = 2 * k as u32 - range_bits;
    let bits = (kmers.len() / PER_BUCKET).max(1).ilog2().min(MOST_BITS).min(left);
    if bits == 0 {
        kmers.sort_unstable_by_key(|&(kmer, _)| kmer);
        return;
    }
    let bucket = |kmer: K| (kmer.shr(left - bits).low() & ((1 << bits) - 1)) as usize;
    let mut starts = vec![0usize; (1 << bits) + 1];
    kmers.iter().for_each(|&(kmer, _)| starts[bucket(kmer) + 1] += 1);
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    swap.clear();
    swap.resize(kmers.len(), (K::default(), 0));
    let mut next = starts.clone();
    for &entry in kmers.iter() {
        let place = &mut next[bucket(entry.0)];
        swap[*place] = entry;
        *place += 1;
    }
    for ends in starts.windows(2) {
        swap[ends[0]..ends[1]].sort_unstable_by_key(|&(kmer, _)| kmer);
    }
    std::mem::swap(kmers, swap);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_come_out_sorted(
            values in proptest::collection::hash_set(0u64..1 << 30, 0..3000),
            clustered in any::<bool>(),
        ) {
            // 21-mers of one range of 12 bits; clustered ones share the next bits as well.
            let base = 5u64 << 30;
            let mut kmers: Vec<(u64, u32)> = values.iter()
                .map(|&v| (base | if clustered { v >> 12 } else { v }, v as u32)).collect();
            let mut expected = kmers.clone();
            expected.sort_by_key(|&(kmer, _)| kmer);
            sort_range(&mut kmers, &mut Vec::new(), 21, 12);
            let kmers: Vec<u64> = kmers.iter().map(|&(kmer, _)| kmer).collect();
            let expected: Vec<u64> = expected.iter().map(|&(kmer, _)| kmer).collect();
            prop_assert_eq!(kmers, expected);
        }
    }
}
