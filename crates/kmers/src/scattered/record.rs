//! A k-mer of a range and its count in few bytes.
//!
//! What all k-mers of a range begin with is left out: a record is the bytes of the rest, the lowest
//! first, and a byte for the count, or 255 and four more bytes for the few that are larger. Of 28-mers
//! that are 7 bytes instead of 12, where billions of them wait in memory or go to disk.

use std::marker::PhantomData;

use merganser_seq::kmer::Kmer;

use super::LARGE_COUNT_BYTES;

/// A count byte that says that the count follows.
const LARGE: u8 = u8::MAX;

/// The records of one width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<K> {
    /// Bits of a k-mer that are not its range's.
    rest: u32,
    /// Bytes that hold them.
    bytes: usize,
    width: PhantomData<K>,
}

impl<K: Kmer> Records<K> {
    /// The most bytes that [`put`](Records::put) looks at.
    pub(super) const MOST: usize = K::BYTES + 5;

    /// For k-mers of `k` bases, of which ranges have the first `range_bits` bits.
    pub(super) fn new(k: usize, range_bits: u32) -> Records<K> {
        let rest = 2 * k as u32 - range_bits;
        Records { rest, bytes: rest.div_ceil(8) as usize, width: PhantomData }
    }

    /// Bytes of a record whose count is not large.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + 1
    }

    pub(super) fn is_large(count: u32) -> bool {
        count >= u32::from(LARGE)
    }

    /// Writes a record to the start of `to`, at least [`Records::MOST`] bytes; returns how many it took.
    #[inline(always)]
    pub(super) fn put(&self, kmer: K, count: u32, to: &mut [u8]) -> usize {
        // The bytes above are the range's, and what follows is written over them.
        kmer.store(to);
        if Self::is_large(count) {
            to[self.bytes] = LARGE;
            count.store(&mut to[self.bytes + 1..]);
            return self.bytes + 1 + LARGE_COUNT_BYTES;
        }
        to[self.bytes] = count as u8;
        self.bytes + 1
    }

    /// Gives `take` the k-mers of whole records of the range `range`.
    #[inline(always)]
    pub(super) fn each(&self, range: usize, records: &[u8], mut take: impl FnMut(K, u32)) {
        let mask = K::from_low(1).shl(self.rest).sub(K::from_low(1));
        let prefix = K::from_low(range as u64).shl(self.rest);
        let mut at = 0;
        let mut one = |records: &[u8]| {
            let kmer = K::load(records).and(mask).or(prefix);
            let count = records[self.bytes];
            if count < LARGE {
                take(kmer, u32::from(count));
                return self.bytes + 1;
            }
            take(kmer, u32::load(&records[self.bytes + 1..]));
            self.bytes + 1 + LARGE_COUNT_BYTES
        };
        while records.len() - at >= Self::MOST {
            at += one(&records[at..at + Self::MOST]);
        }
        // The last ones, with room behind them for whole words.
        let mut last = [0; 128];
        let left = &records[at..];
        last[..left.len()].copy_from_slice(left);
        let mut at = 0;
        while at < left.len() {
            at += one(&last[at..at + Self::MOST]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::kmer::Wide;
    use proptest::prelude::*;

    fn check<K: Kmer>(k: usize, values: &[(u64, u32)], shift: u32) {
        let range_bits = super::super::range_bits(k);
        let records = Records::<K>::new(k, range_bits);
        let kmers: Vec<(K, u32)> = values
            .iter()
            .map(|&(value, count)| (K::from_low(value).shl(shift).and(K::mask(k)), count))
            .collect();
        let range = kmers.first().map_or(0, |(kmer, _)| kmer.prefix(k, range_bits) as usize);
        let of_range = |kmer: &K| kmer.prefix(k, range_bits) as usize == range;
        let kmers: Vec<(K, u32)> = kmers.into_iter().filter(|(kmer, _)| of_range(kmer)).collect();
        let mut bytes = Vec::new();
        for &(kmer, count) in &kmers {
            let from = bytes.len();
            bytes.resize(from + Records::<K>::MOST, 0xee);
            let took = records.put(kmer, count, &mut bytes[from..]);
            bytes.truncate(from + took);
        }
        let large = kmers.iter().filter(|(_, count)| Records::<K>::is_large(*count)).count();
        assert_eq!(bytes.len(), kmers.len() * records.bytes() + large * LARGE_COUNT_BYTES);
        let mut found = Vec::new();
        records.each(range, &bytes, |kmer, count| found.push((kmer, count)));
        assert_eq!(found, kmers);
    }

    proptest! {
        #[test]
        fn records_come_back_at_every_width(
            values in proptest::collection::vec((0u64..1 << 20, prop_oneof![1u32..4, 250u32..260, Just(u32::MAX)]), 0..40),
            shift in 0u32..12,
        ) {
            for k in [3, 6, 7, 11, 16] {
                check::<u32>(k, &values, shift % (2 * k as u32 - 5));
            }
            for k in [17, 22, 28, 32] {
                check::<u64>(k, &values, shift);
            }
            for k in [33, 46, 55, 64] {
                check::<u128>(k, &values, 3 * shift);
            }
            for k in [65, 100, 128] {
                check::<Wide>(k, &values, 9 * shift);
            }
        }
    }
}
