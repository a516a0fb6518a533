//! Counting sort of items into buckets by their leading bits.
//!
//! It is the first step of sorting, and of look-ups in tables that are far larger than the caches. With pages of 4 KiB,
//! a random access also misses the TLB; look-ups in the order of the table do not. The loops that then prefetch some
//! look-ups ahead are part of each table: a shared loop that takes closures is not compiled with the vector
//! instructions of its caller, and took 18 ns instead of 14 ns per look-up.

/// Sorts items into buckets, keeping the order within each bucket.
///
/// `items` yields each item with its bucket, an index into `ends`; it is iterated twice. `ends` must be zero. It is set
/// to the end of each bucket in `to`.
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

/// Counts the items of each bucket and replaces the counts, which must be zero, with the beginnings of the buckets.
/// Returns the number of all items.
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

/// Moves items to the [beginnings](begins) of their buckets; each beginning becomes the end of its bucket.
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
