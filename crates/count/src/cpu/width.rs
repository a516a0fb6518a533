//! The record key of each k-mer width: the words that are compared at once in deduplication.

use merganser_seq::kmer::{Kmer, Wide};

/// A k-mer width with its record key.
pub(crate) trait Width: Kmer {
    /// A key that holds a usual super-k-mer record of this width: 2k-p bases and the
    /// length byte. Longer records are not deduplicated.
    type Key: Key;
}

impl Width for u32 {
    type Key = [u8; 16];
}
impl Width for u64 {
    type Key = [u8; 16];
}
impl Width for u128 {
    type Key = [u8; 32];
}
impl Width for Wide {
    type Key = [u8; 64];
}

/// A super-k-mer record, padded with zeros.
pub(crate) trait Key: Copy + Eq {
    /// The key of an empty entry.
    const NONE: Self;
    /// The number of bytes of the key.
    const BYTES: usize;
    /// Loads the record of `len` bytes (at most [`Key::BYTES`]) at the start of `from`.
    fn load(from: &[u8], len: usize) -> Self;
    /// Returns the record, followed by zeros.
    fn record(&self) -> &[u8];
    /// Returns a 64-bit hash with well-mixed high bits.
    fn hash(&self) -> u64;
}

impl<const N: usize> Key for [u8; N] {
    const NONE: Self = [0; N];
    const BYTES: usize = N;

    #[inline(always)]
    fn load(from: &[u8], len: usize) -> Self {
        let Some(whole) = from.first_chunk::<N>() else {
            let mut key = [0; N];
            key[..len].copy_from_slice(&from[..len]);
            return key;
        };
        let mut key = *whole;
        for (i, word) in key.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // Bytes after the record belong to the next one: mask them.
            let bytes = len.saturating_sub(8 * i).min(8) as u32;
            let mask = u64::MAX.checked_shr(64 - 8 * bytes).unwrap_or(0);
            *word = (u64::from_le_bytes(*word) & mask).to_le_bytes();
        }
        key
    }

    #[inline(always)]
    fn record(&self) -> &[u8] {
        self
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        let words = self.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        words.fold(0, |hash, word| (hash.rotate_left(29) ^ word).hash())
    }
}
