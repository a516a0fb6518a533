//! `std::sort` of libstdc++ (GCC), because its order of equal elements is visible in Kraken 2's reports:
//! introsort (Musser, 1997) with the same thresholds.

/// Stretches of at most this length are left to the final insertion sort.
const THRESHOLD: usize = 16;

/// Sorts as libstdc++ does; `less` must be a strict weak order.
pub(super) fn std_sort<T: Copy>(items: &mut [T], mut less: impl FnMut(T, T) -> bool) {
    let Some(lg) = items.len().checked_ilog2() else { return };
    let less: &mut dyn FnMut(T, T) -> bool = &mut less;
    introsort(items, 2 * lg, less);
    if items.len() <= THRESHOLD {
        return insertion_sort(items, less);
    }
    insertion_sort(&mut items[..THRESHOLD], less);
    for last in THRESHOLD..items.len() {
        insert(items, last, less);
    }
}

fn introsort<T: Copy>(mut items: &mut [T], mut depth: u32, less: &mut dyn FnMut(T, T) -> bool) {
    while items.len() > THRESHOLD {
        if depth == 0 {
            return heap_sort(items, less);
        }
        depth -= 1;
        let cut = partition(items, less);
        let (head, tail) = items.split_at_mut(cut);
        introsort(tail, depth, less);
        items = head;
    }
}

/// Partitions around the median of the second, the middle and the last item; returns the start of the
/// upper part.
fn partition<T: Copy>(items: &mut [T], less: &mut dyn FnMut(T, T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let mut is_less = |one: usize, other: usize| less(items[one], items[other]);
    let median = if is_less(a, b) {
        if is_less(b, c) {
            b
        } else if is_less(a, c) {
            c
        } else {
            a
        }
    } else if is_less(a, c) {
        a
    } else if is_less(b, c) {
        c
    } else {
        b
    };
    items.swap(0, median);
    let (mut first, mut last) = (1, items.len());
    loop {
        while less(items[first], items[0]) {
            first += 1;
        }
        last -= 1;
        while less(items[0], items[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

/// Moves an item down to its position among those before it; stops at the first item.
fn insert<T: Copy>(items: &mut [T], last: usize, less: &mut dyn FnMut(T, T) -> bool) {
    let value = items[last];
    let mut at = last;
    while at > 0 && less(value, items[at - 1]) {
        items[at] = items[at - 1];
        at -= 1;
    }
    items[at] = value;
}

fn insertion_sort<T: Copy>(items: &mut [T], less: &mut dyn FnMut(T, T) -> bool) {
    for last in 1..items.len() {
        // libstdc++ moves an item that is less than the first there at once, which gives the same order.
        insert(items, last, less);
    }
}

fn heap_sort<T: Copy>(items: &mut [T], less: &mut dyn FnMut(T, T) -> bool) {
    for parent in (0..items.len() / 2).rev() {
        let value = items[parent];
        sift(items, parent, value, less);
    }
    for last in (1..items.len()).rev() {
        let value = items[last];
        items[last] = items[0];
        sift(&mut items[..last], 0, value, less);
    }
}

/// Moves the hole at `top` to the bottom of the heap, each time swapping it with the greater child, and lets
/// `value` rise from there to its position.
fn sift<T: Copy>(items: &mut [T], top: usize, value: T, less: &mut dyn FnMut(T, T) -> bool) {
    let mut hole = top;
    loop {
        let (left, right) = (2 * hole + 1, 2 * hole + 2);
        let child = if right < items.len() {
            if less(items[right], items[left]) { left } else { right }
        } else if left < items.len() {
            left
        } else {
            break;
        };
        items[hole] = items[child];
        hole = child;
    }
    while hole > top && less(items[(hole - 1) / 2], value) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a number that depends on the order of items after sorting by descending keys.
    fn order(keys: &[i64]) -> u64 {
        let mut items: Vec<usize> = (0..keys.len()).collect();
        std_sort(&mut items, |a, b| keys[a] > keys[b]);
        items.iter().fold(0, |sum: u64, &item| sum.wrapping_mul(31).wrapping_add(item as u64))
    }

    /// The expected values were computed by a program compiled with GCC 12.2 for the same keys.
    #[test]
    fn equal_elements_have_the_order_of_libstdc() {
        for (count, expected) in [
            (1, 0x0000000000000000),
            (2, 0x000000000000001f),
            (16, 0x33036f1806c565f2),
            (17, 0x2d761eea74706108),
            (33, 0x5c19f8c727755bae),
            (70, 0x836a31478cfcb9ed),
            (500, 0xaa0ab3ac02d8c264),
            (3000, 0x8752c2d2af2270f4),
        ] {
            let keys: Vec<i64> = (0..count).map(|i| (i * i * 7 + i / 3) % 5).collect();
            assert_eq!(order(&keys), expected, "{count} of few kinds");
        }
        for (count, expected) in [
            (17, 0xd576c3082f5e3e1c),
            (70, 0xfb7dd66a09a51971),
            (500, 0xcbc9de2833c07ef4),
            (3000, 0xae7a23d7a2267e38),
        ] {
            let keys: Vec<i64> = (0..count).map(|i| i * 7919 % 1009 / 2).collect();
            assert_eq!(order(&keys), expected, "{count} of many kinds");
        }
        for (count, expected) in [(400, 0x71cb397385b79c30), (2000, 0xc84401678d8eb166)] {
            assert_eq!(
                order(&killer(count)),
                expected,
                "{count} in the worst order, which comes to a heap"
            );
        }
    }

    /// Keys for which the median of three is the least or greatest each time (Musser).
    fn killer(count: usize) -> Vec<i64> {
        let (mut keys, half) = (vec![0; count], count / 2);
        for i in 1..=half {
            if i % 2 == 1 {
                (keys[i - 1], keys[i]) = (i as i64, (half + i) as i64);
            }
            keys[half + i - 1] = 2 * i as i64;
        }
        keys.iter().map(|key| -(key / 3)).collect()
    }

    proptest! {
        #[test]
        fn what_is_sorted_is_sorted(keys in proptest::collection::vec(0u32..20, 0..300)) {
            let mut items: Vec<(u32, usize)> = keys.iter().copied().zip(0..).collect();
            let mut expected = items.clone();
            std_sort(&mut items, |a, b| a.0 > b.0);
            if items.len() <= THRESHOLD {
                expected.sort_by_key(|item| std::cmp::Reverse(item.0));
                prop_assert_eq!(&items, &expected);
            }
            prop_assert!(items.is_sorted_by(|a, b| a.0 >= b.0));
            items.sort_unstable_by_key(|item| item.1);
            prop_assert!(items.iter().map(|item| item.0).eq(keys));
        }
    }
}
