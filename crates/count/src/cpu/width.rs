//! The record key of each k-mer width: the words that are compared at once in deduplication.

use merganser_seq::kmer::{Kmer, Wide};

/// A k-mer width with its record key.
pub(crate) trait Width: Kmer {
    /// A key that holds a usual super-k-mer record of this width: 2k-p bases and the
    /// length byte. Longer records are not deduplicated.
    type Key: Key;
}

impl Width for u32 {
    type Key = [u64; 2];
}
impl Width for u64 {
    type Key = [u64; 2];
}
impl Width for u128 {
    type Key = [u64; 4];
}
impl Width for Wide {
    type Key = [u64; 8];
}

/// A super-k-mer record as words, padded with zeros.
pub(crate) trait Key: Copy + Eq {
    /// The key of an empty entry.
    const NONE: Self;
    /// The number of bytes of the key.
    const BYTES: usize;
    /// Loads the record of `len` bytes (at most [`Key::BYTES`]) at the start of `from`.
    fn load(from: &[u8], len: usize) -> Self;
    /// Writes the record's bytes to the start of `out`.
    fn bytes(&self, out: &mut [u8; 64]);
    /// Returns a 64-bit hash with well-mixed high bits.
    fn hash(&self) -> u64;
}

impl<const N: usize> Key for [u64; N] {
    const NONE: Self = [0; N];
    const BYTES: usize = 8 * N;

    #[inline(always)]
    fn load(from: &[u8], len: usize) -> Self {
        let mut key = [0; N];
        if let Some(whole) = from.get(..8 * N) {
            for (i, word) in key.iter_mut().enumerate() {
                // Bytes after the record belong to the next one: mask them.
                let bytes = len.saturating_sub(8 * i).min(8) as u32;
                let mask = u64::MAX.checked_shr(64 - 8 * bytes).unwrap_or(0);
                *word = u64::load(&whole[8 * i..]) & mask;
            }
        } else {
            let mut padded = [0; 64];
            padded[..len].copy_from_slice(&from[..len]);
            for (i, word) in key.iter_mut().enumerate() {
                *word = u64::load(&padded[8 * i..]);
            }
        }
        key
    }

    #[inline(always)]
    fn bytes(&self, out: &mut [u8; 64]) {
        for (i, word) in self.iter().enumerate() {
            word.store(&mut out[8 * i..]);
        }
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        self.iter().fold(0, |hash, &word| (hash.rotate_left(29) ^ word).hash())
    }
}
