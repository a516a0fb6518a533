//! Records of k-mers with their counts, which are scattered by their first bits ([`Scatter`]).
//!
//! A record does not have the bits that all k-mers of a range share: it has the remaining bits as bytes,
//! little-endian, and a byte for the count. For counts of 255 and more, which are few, the byte is 255 and the
//! count follows in four bytes, little-endian. A 28-mer takes 7 bytes instead of 12, for billions of k-mers in
//! memory or on disk.

mod sort;

use std::marker::PhantomData;

use merganser_seq::kmer::Kmer;
use merganser_store::{RangeContents, Records, Scatter, Scattering, worker_bytes};

pub use sort::sort_range;

/// The number of first bits by which k-mers are scattered; shorter k-mers are scattered by all their bits.
const RANGE_BITS: u32 = 12;

/// The largest number of ranges.
pub const MAX_RANGES: usize = 1 << RANGE_BITS;

/// The number of bytes that a record with a large count, 255 or more, takes in addition to [`Records::bytes`].
pub const LARGE_COUNT_BYTES: usize = 4;

/// The memory of the buffers of a worker, in bytes.
pub const WORKER_BYTES: u64 = worker_bytes(MAX_RANGES);

/// The count byte that tells that the count follows.
const LARGE: u8 = u8::MAX;

/// Distinct k-mers with their counts, by range.
pub type Scattered<'p, K> = Scatter<'p, KmerRecords<K>>;

/// The k-mers of one range.
pub type KmerContents<'p, K> = RangeContents<'p, KmerRecords<K>>;

/// A worker's writer of scattered k-mers.
pub type ScatteredWriter<'s, 'p, K> = Scattering<'s, 'p, KmerRecords<K>>;

/// Returns the number of ranges for k-mers of length `k`.
pub fn ranges(k: usize) -> usize {
    1 << range_bits(k)
}

/// Returns the number of first bits of a k-mer of length `k` that select its range.
pub fn range_bits(k: usize) -> u32 {
    RANGE_BITS.min(2 * k as u32)
}

/// The records of k-mers of one length.
#[derive(Clone, Copy, Debug)]
pub struct KmerRecords<K> {
    k: usize,
    range_bits: u32,
    /// The size of the bits of a k-mer that are in a record, in bytes.
    kmer_bytes: usize,
    width: PhantomData<K>,
}

impl<K: Kmer> KmerRecords<K> {
    /// Returns the records of k-mers of length `k`.
    pub fn new(k: usize) -> KmerRecords<K> {
        let range_bits = range_bits(k);
        let kmer_bytes = (2 * k as u32 - range_bits).div_ceil(8) as usize;
        KmerRecords { k, range_bits, kmer_bytes, width: PhantomData }
    }

    /// Returns the length of k-mers.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the number of first bits of a k-mer that select its range.
    pub fn range_bits(&self) -> u32 {
        self.range_bits
    }

    /// Returns the size of a k-mer in a record, in bytes.
    pub fn kmer_bytes(&self) -> usize {
        self.kmer_bytes
    }
}

fn is_large(count: u32) -> bool {
    count >= u32::from(LARGE)
}

impl<K: Kmer> Records for KmerRecords<K> {
    type Item = (K, u32);

    const MAX: usize = K::BYTES + 5;

    fn ranges(&self) -> usize {
        1 << self.range_bits
    }

    #[inline(always)]
    fn range(&self, (kmer, _): (K, u32)) -> usize {
        kmer.prefix(self.k, self.range_bits) as usize
    }

    fn bytes(&self) -> usize {
        self.kmer_bytes + 1
    }

    #[inline(always)]
    fn excess(&self, (_, count): (K, u32)) -> usize {
        if is_large(count) { LARGE_COUNT_BYTES } else { 0 }
    }

    #[inline(always)]
    fn put(&self, (kmer, count): (K, u32), to: &mut [u8]) -> usize {
        // The bytes above belong to the range and are overwritten below or by the next record.
        kmer.store(to);
        if is_large(count) {
            to[self.kmer_bytes] = LARGE;
            count.store(&mut to[self.kmer_bytes + 1..]);
            return self.kmer_bytes + 1 + LARGE_COUNT_BYTES;
        }
        to[self.kmer_bytes] = count as u8;
        self.kmer_bytes + 1
    }

    #[inline(always)]
    fn each(&self, range: usize, records: &[u8], mut take: impl FnMut((K, u32))) {
        let rest = 2 * self.k as u32 - self.range_bits;
        let mask = K::from_low(1).shl(rest).sub(K::from_low(1));
        let prefix = K::from_low(range as u64).shl(rest);
        let mut at = 0;
        let mut one = |records: &[u8]| {
            let kmer = K::load(records).and(mask).or(prefix);
            let count = records[self.kmer_bytes];
            if count < LARGE {
                take((kmer, u32::from(count)));
                return self.kmer_bytes + 1;
            }
            take((kmer, u32::load(&records[self.kmer_bytes + 1..])));
            self.kmer_bytes + 1 + LARGE_COUNT_BYTES
        };
        while records.len() - at >= Self::MAX {
            at += one(&records[at..at + Self::MAX]);
        }
        // The last records are copied, so that whole words can be loaded.
        let mut last = [0; 128];
        let left = &records[at..];
        last[..left.len()].copy_from_slice(left);
        let mut at = 0;
        while at < left.len() {
            at += one(&last[at..at + Self::MAX]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::kmer::Wide;
    use proptest::prelude::*;

    fn check<K: Kmer>(k: usize, values: &[(u64, u32)], shift: u32) {
        let range_bits = range_bits(k);
        let records = KmerRecords::<K>::new(k);
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
            bytes.resize(from + KmerRecords::<K>::MAX, 0xee);
            let took = records.put((kmer, count), &mut bytes[from..]);
            bytes.truncate(from + took);
        }
        let large = kmers.iter().filter(|(_, count)| is_large(*count)).count();
        assert_eq!(bytes.len(), kmers.len() * records.bytes() + large * LARGE_COUNT_BYTES);
        let mut found = Vec::new();
        records.each(range, &bytes, |pair| found.push(pair));
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
