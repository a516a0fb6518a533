//! Sorts one range of k-mers.

use merganser_seq::kmer::Kmer;
use merganser_store::{begins, place};

/// The average number of k-mers in a bucket that is finished by insertion sort.
const PER_BUCKET: usize = 4;
/// The largest number of bits of one distribution step.
const MAX_BITS: u32 = 12;
/// The largest number of k-mers for which one distribution step is enough.
const ONE_STEP: usize = 1 << 14;
/// The average number of k-mers in a bucket after the first of two steps.
const AFTER_FIRST: usize = 1 << 11;
/// The largest number of k-mers for which insertion sort is faster than other sorts.
const INSERTED: usize = 20;

/// Sorts distinct k-mers that differ only in their last `left` bits. They are distributed by the first of these
/// bits into buckets of a few k-mers, in one step, or in two for many k-mers; each bucket is then sorted by
/// comparison. `swap` is working space.
pub fn sort_range<K: Kmer>(kmers: &mut Vec<(K, u32)>, swap: &mut Vec<(K, u32)>, left: u32) {
    if u32::try_from(kmers.len()).is_err() {
        return kmers.sort_unstable_by_key(|&(kmer, _)| kmer);
    }
    let mut ends = Vec::new();
    swap.resize(kmers.len(), (K::default(), 0));
    if kmers.len() <= ONE_STEP {
        distribute_and_sort(kmers, swap, left, &mut ends);
        std::mem::swap(kmers, swap);
        return;
    }
    // The buckets of the first step and their sorted copies stay in the first-level cache.
    let bits = (kmers.len() / AFTER_FIRST).ilog2().min(MAX_BITS).min(left);
    distribute(kmers, swap, left, bits, &mut ends);
    let (mut from, mut next) = (0, Vec::new());
    for to in ends.into_iter().map(|end| end as usize) {
        distribute_and_sort(&swap[from..to], &mut kmers[from..to], left - bits, &mut next);
        from = to;
    }
}

/// Writes k-mers that differ only in their last `left` bits to `to`, sorted.
fn distribute_and_sort<K: Kmer>(
    from: &[(K, u32)],
    to: &mut [(K, u32)],
    left: u32,
    ends: &mut Vec<u32>,
) {
    let bits = (from.len() / PER_BUCKET).max(1).ilog2().min(MAX_BITS).min(left);
    if bits == 0 {
        to.copy_from_slice(from);
        return sort_few(to);
    }
    distribute(from, to, left, bits, ends);
    let mut start = 0;
    for &end in &*ends {
        sort_few(&mut to[start..end as usize]);
        start = end as usize;
    }
}

/// Distributes k-mers to buckets by the first `bits` (at least 1) of their last `left` bits; sets `ends` to the
/// ends of the buckets.
fn distribute<K: Kmer>(
    from: &[(K, u32)],
    to: &mut [(K, u32)],
    left: u32,
    bits: u32,
    ends: &mut Vec<u32>,
) {
    ends.clear();
    ends.resize(1 << bits, 0);
    let bucket = |kmer: K| (kmer.shr(left - bits).low() & ((1 << bits) - 1)) as usize;
    begins(from.iter().map(|&(kmer, _)| bucket(kmer)), ends);
    place(from.iter().map(|&entry| (bucket(entry.0), entry)), ends, to);
}

#[inline(always)]
fn sort_few<K: Kmer>(kmers: &mut [(K, u32)]) {
    if kmers.len() > INSERTED {
        return kmers.sort_unstable_by_key(|&(kmer, _)| kmer);
    }
    for at in 1..kmers.len() {
        let entry = kmers[at];
        let mut to = at;
        while to > 0 && kmers[to - 1].0 > entry.0 {
            kmers[to] = kmers[to - 1];
            to -= 1;
        }
        kmers[to] = entry;
    }
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
            times in prop_oneof![Just(1u64), Just(12)],
        ) {
            // 21-mers of one range of 12 bits; clustered ones also share the next bits.
            let base = 5u64 << 30;
            let more = |v| (0..times).map(move |i| (v + i * 0x0123_4567) & ((1 << 30) - 1));
            let values: std::collections::HashSet<u64> = values.into_iter().flat_map(more).collect();
            let mut kmers: Vec<(u64, u32)> = values.iter()
                .map(|&v| (base | if clustered { v >> 12 } else { v }, v as u32)).collect();
            let mut expected = kmers.clone();
            expected.sort_by_key(|&(kmer, _)| kmer);
            sort_range(&mut kmers, &mut Vec::new(), 30);
            let kmers: Vec<u64> = kmers.iter().map(|&(kmer, _)| kmer).collect();
            let expected: Vec<u64> = expected.iter().map(|&(kmer, _)| kmer).collect();
            prop_assert_eq!(kmers, expected);
        }
    }
}
