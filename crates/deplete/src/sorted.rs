//! A set of long minimizers for look-ups: their sorted numbers, and where the numbers of each bucket start. A bucket has
//! all numbers that share their leading bits. A look-up reads where its bucket starts, and searches the bucket.

use std::ops::Range;

use merganser_seq::simd::prefetch;

use crate::Params;
use crate::lookup::{Lookup, TOGETHER};

/// The minimum number of numbers in a bucket on average, if there are as many; the maximum is twice this. Four are in a
/// cache line.
const IN_BUCKET: usize = 8;

/// The minimizers of a host of more than 31 bases, for look-ups.
#[derive(Clone, Debug)]
pub(crate) struct SortedLookup {
    params: Params,
    /// The number of low bits of a number that do not tell its bucket.
    low_bits: u32,
    /// Where the numbers of each bucket start, and where those of the last one end.
    starts: Vec<u64>,
    numbers: Vec<u128>,
}

impl SortedLookup {
    /// Returns the memory of a set of `count` minimizers besides their numbers, in bytes.
    pub(crate) fn bytes_of_starts(params: Params, count: usize) -> u64 {
        size_of::<u64>() as u64 * ((1 << bucket_bits(params, count)) + 1)
    }

    /// Makes a set of sorted numbers without duplicates.
    pub(crate) fn new(params: Params, numbers: Vec<u128>) -> SortedLookup {
        let bucket_bits = bucket_bits(params, numbers.len());
        let low_bits = 2 * params.k() as u32 - bucket_bits;
        let mut starts = Vec::with_capacity((1 << bucket_bits) + 1);
        for (at, number) in numbers.iter().enumerate() {
            let bucket = (number >> low_bits) as usize;
            starts.resize(starts.len().max(bucket + 1), at as u64);
        }
        starts.resize((1 << bucket_bits) + 1, numbers.len() as u64);
        SortedLookup { params, low_bits, starts, numbers }
    }

    #[inline(always)]
    fn bucket(&self, number: u128) -> usize {
        (number >> self.low_bits) as usize
    }

    /// Returns the indices of the numbers of a bucket.
    #[inline(always)]
    fn range(&self, bucket: usize) -> Range<usize> {
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }
}

/// Returns the number of leading bits that tell the bucket of a number.
fn bucket_bits(params: Params, count: usize) -> u32 {
    count.div_ceil(IN_BUCKET).max(1).ilog2().min(2 * params.k() as u32)
}

impl Lookup for SortedLookup {
    type Word = u128;

    fn params(&self) -> Params {
        self.params
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.starts[..]) + size_of_val(&self.numbers[..])) as u64
    }

    fn contains(&self, value: u128) -> bool {
        let number = self.params.spread(value);
        self.numbers[self.range(self.bucket(number))].binary_search(&number).is_ok()
    }

    fn look_up(&self, values: &[u128], asked: &[u32], found: &mut Vec<u32>) {
        // While the numbers of a value arrive, those of the values before are searched.
        for asked in asked.chunks(TOGETHER) {
            let (mut numbers, mut ranges) = ([0; TOGETHER], [const { 0..0 }; TOGETHER]);
            for (number, &at) in numbers.iter_mut().zip(asked) {
                *number = self.params.spread(values[at as usize]);
                prefetch(&self.starts, self.bucket(*number));
            }
            for (range, &number) in ranges.iter_mut().zip(&numbers[..asked.len()]) {
                *range = self.range(self.bucket(number));
                prefetch(&self.numbers, range.start);
                prefetch(&self.numbers, range.end.saturating_sub(1));
            }
            for ((&at, range), number) in asked.iter().zip(ranges).zip(&numbers) {
                if self.numbers[range].binary_search(number).is_ok() {
                    found.push(at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MinimizerSet;
    use crate::lookup::MinimizerLookup;
    use crate::word::ByWord;
    use merganser_test_random::Random;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_was_given_is_there_and_nothing_else(
            seed in any::<u64>(),
            count in 0..900usize,
            half in 16..31usize,
            clustered in 0..60u32,
        ) {
            let params = Params::new(2 * half + 1, 3).unwrap();
            let mut random = Random(seed);
            let mut number = || u128::from(random.next()) << 64 | u128::from(random.next());
            let cluster = number() & !(u128::MAX >> clustered);
            // Numbers that share their leading bits.
            let of = |number: u128| params.value((cluster | number >> clustered) >> params.unused_bits::<u128>());
            let values: BTreeSet<u128> = (0..count).map(|_| of(number())).collect();
            let set = MinimizerSet::of_values(params, values.iter().copied());
            let MinimizerLookup(ByWord::Long(host)) = MinimizerLookup::from(&set) else { panic!() };
            prop_assert_eq!(host.len(), values.len());
            prop_assert_eq!(host.bytes() - set.bytes(), SortedLookup::bytes_of_starts(params, values.len()));
            let near = |value: u128| [value, value ^ 1, value ^ 1 << (2 * params.k() - 1)];
            let ends = [0, params.mask()];
            let asked: Vec<u128> = values.iter().copied().flat_map(near).chain(ends).collect();
            let indices: Vec<u32> = (0..asked.len() as u32).step_by(1 + count % 2).collect();
            let mut found = vec![7];
            host.look_up(&asked, &indices, &mut found);
            let expected = indices.iter().filter(|&&at| values.contains(&asked[at as usize]));
            prop_assert_eq!(found, [7].iter().chain(expected).copied().collect::<Vec<u32>>());
            prop_assert!(asked.iter().all(|value| host.contains(*value) == values.contains(value)));
        }
    }

    /// The memory of large sets.
    #[test]
    fn a_minimizer_takes_up_to_seventeen_bytes() {
        let params = Params::new(41, 15).unwrap();
        for count in [1_000, 25_000_000, 400_000_000] {
            let starts = SortedLookup::bytes_of_starts(params, count) as f64 / count as f64;
            assert!((0.5..=1.01).contains(&starts), "{count} {starts}");
        }
    }
}
