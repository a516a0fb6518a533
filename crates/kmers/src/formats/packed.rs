//! Functions for formats with packed bases.

use merganser_seq::kmer::Kmer;

/// Returns the number of bytes of a count, 1 to 4.
pub(crate) fn count_bytes(largest_count: u32) -> usize {
    (4 - largest_count.max(1).leading_zeros() / 8) as usize
}

/// Writes the last `k` bases (at least 1), 4 bases per byte, with the first base in the top bits. Always writes
/// [`Kmer::BYTES`] bytes.
#[inline(always)]
pub(crate) fn store_packed<K: Kmer>(kmer: K, k: usize, bytes: &mut [u8]) {
    let bytes = &mut bytes[..K::BYTES];
    kmer.shl((8 * K::BYTES - 2 * k) as u32).store(bytes);
    bytes.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bases_come_back() {
        for k in 1..=32 {
            let kmer = 0x9e37_79b9_7f4a_7c15u64;
            let mut bytes = [0xff; 9];
            store_packed(kmer, k, &mut bytes);
            assert_eq!(u64::from_packed(&bytes, k), kmer & u64::mask(k));
            assert!(bytes[k.div_ceil(4)..8].iter().all(|&byte| byte == 0) && bytes[8] == 0xff);
        }
    }
}
