//! Items put in the order of their leading bits: a counting sort into buckets.
//!
//! It is the first step of sorting, and of look-ups in tables that are far larger than the caches: with
//! pages of 4 KiB a random access also misses the TLB, which look-ups in the order of the table do not.
//! The loops that then prefetch some look-ups ahead stay with their tables: given closures, a shared
//! loop does not have the vector instructions of its caller, and took 18 ns for 14 per look-up.

/// Puts items into buckets, those of each in the order in which they come. For each item `items` gives
/// its bucket, an index of `ends`, and the item; it is gone through twice. `ends`, zeros before, becomes
/// where each bucket ends in `to`.
#[inline(always)]
pub fn distribute<T: Copy + Default>(
    items: impl Iterator<Item = (usize, T)> + Clone,
    ends: &mut [u32],
    to: &mut Vec<T>,
) {
    let len = begins(items.clone().map(|(bucket, _)| bucket), ends);
    to.resize(len, T::default());
    place(items, ends, to);
}

/// Counts the items of each bucket, whose counts are 0 before, and makes of the counts where the bucket
/// begins. Returns the number of all items.
#[inline(always)]
pub fn begins(buckets: impl Iterator<Item = usize>, counts: &mut [u32]) -> usize {
    for bucket in buckets {
        counts[bucket] += 1;
    }
    let mut next = 0;
    for count in counts {
        (*count, next) = (next, next + *count);
    }
    next as usize
}

/// Puts items where their buckets [begin](begins); each begin becomes the bucket's end.
#[inline(always)]
pub fn place<T>(items: impl Iterator<Item = (usize, T)>, begins: &mut [u32], to: &mut [T]) {
    for (bucket, item) in items {
        let at = &mut begins[bucket];
        to[*at as usize] = item;
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_keep_the_order_of_their_items(
            items in proptest::collection::vec((0usize..9, any::<u32>()), 0..200),
        ) {
            let (mut ends, mut found) = ([0u32; 9], vec![7; 3]);
            distribute(items.iter().copied(), &mut ends, &mut found);
            let mut expected = items.clone();
            expected.sort_by_key(|&(bucket, _)| bucket);
            prop_assert!(found.iter().eq(expected.iter().map(|(_, item)| item)));
            for (bucket, &end) in ends.iter().enumerate() {
                let before = expected.partition_point(|&(other, _)| other <= bucket);
                prop_assert_eq!(end as usize, before);
            }
        }
    }
}
