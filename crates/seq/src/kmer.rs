//! k-mers as integers of four widths, with 2 bits per base. The first base is the most significant, so that integers
//! are ordered as the letters.

mod small;
mod wide;

pub use wide::Wide;

use crate::base;

/// The largest k of any width.
pub const MAX_K: usize = 128;

/// An integer that holds a k-mer in its low 2k bits; the bits above are zero.
///
/// Implemented by `u32` (k ≤ 16), `u64` (k ≤ 32), `u128` (k ≤ 64) and [`Wide`] (k ≤ 128).
pub trait Kmer: Copy + Ord + Eq + Default + std::fmt::Debug + Send + Sync + 'static {
    /// The largest k that the integer holds.
    const MAX_K: usize;
    /// The size of the integer in bytes.
    const BYTES: usize;

    /// Returns a mask of the low 2k bits.
    fn mask(k: usize) -> Self;
    /// Returns the k-mer of the next position: drops the first base and appends the base `code`.
    fn push(self, code: u8, mask: Self) -> Self;
    /// Returns the reverse complement of the next position's k-mer, given that of this position.
    fn push_complement(self, code: u8, k: usize) -> Self;
    /// Returns a 64-bit hash whose high bits are well mixed.
    fn hash(self) -> u64;
    /// Shifts right by `bits`; 0 if `bits` is the width or more.
    fn shr(self, bits: u32) -> Self;
    /// Shifts left by `bits`; 0 if `bits` is the width or more.
    fn shl(self, bits: u32) -> Self;
    /// Returns the bitwise OR.
    fn or(self, other: Self) -> Self;
    /// Returns the bitwise AND.
    fn and(self, other: Self) -> Self;
    /// Subtracts modulo the width.
    fn sub(self, other: Self) -> Self;
    /// Adds modulo the width.
    fn add(self, other: Self) -> Self;
    /// Returns the low 64 bits.
    fn low(self) -> u64;
    /// Converts an integer of up to 64 bits.
    ///
    /// # Panics
    /// May panic if the value does not fit.
    fn from_low(value: u64) -> Self;
    /// Returns the number of significant bits: the position of the highest set bit plus 1, or 0 for 0.
    fn bit_len(self) -> u32;
    /// Writes the integer to the first [`Kmer::BYTES`] bytes of `bytes`, little-endian.
    fn store(self, bytes: &mut [u8]);
    /// Reads an integer that [`Kmer::store`] wrote.
    fn load(bytes: &[u8]) -> Self;

    /// Returns the smaller of two k-mers. For a k-mer and its reverse complement, this is the canonical k-mer.
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// Returns the code of the base at `position` (from 0) of a k-mer of `k` bases.
    fn base(self, position: usize, k: usize) -> u8 {
        (self.shr(2 * (k - 1 - position) as u32).low() & 3) as u8
    }

    /// Returns the first `bits` bits of a k-mer of `k` bases; `bits` is at most 32 and at most 2k.
    #[inline(always)]
    fn prefix(self, k: usize, bits: u32) -> u32 {
        self.shr(2 * k as u32 - bits).low() as u32
    }

    /// Returns the reverse complement of a k-mer of `k` bases.
    fn reverse_complement(self, k: usize) -> Self;
    /// Returns the first `k` (at least 1) of packed bases: 4 bases per byte, the first base in the top bits. Reads
    /// [`Kmer::BYTES`] bytes for every k.
    ///
    /// # Panics
    /// If `bytes` has fewer than [`Kmer::BYTES`] bytes.
    fn from_packed(bytes: &[u8], k: usize) -> Self;

    /// Converts letters to a k-mer, with k = the number of letters. Returns `None` if there are no letters or more than
    /// [`Kmer::MAX_K`], or if one is not a base.
    fn from_letters(letters: &[u8]) -> Option<Self> {
        if letters.is_empty() || letters.len() > Self::MAX_K {
            return None;
        }
        let mask = Self::mask(letters.len());
        letters.iter().try_fold(Self::default(), |kmer, &l| Some(kmer.push(base::code(l)?, mask)))
    }

    /// Appends the k-mer of `k` bases to `out`, as upper-case letters.
    fn write_letters(self, k: usize, out: &mut Vec<u8>) {
        let (at, odd) = (out.len(), k % 4);
        out.resize(at + k, 0);
        let (first, fours) = out[at..].split_at_mut(odd);
        for (position, letter) in first.iter_mut().enumerate() {
            *letter = base::LETTERS[usize::from(self.base(position, k))];
        }
        let mut left = 2 * (k - odd) as u32;
        for four in fours.as_chunks_mut::<4>().0 {
            left -= 8;
            *four = FOURS[(self.shr(left).low() & 0xff) as usize];
        }
    }
}

/// The letters of the four bases of each byte, first base in the top bits.
static FOURS: [[u8; 4]; 256] = {
    let mut fours = [[0; 4]; 256];
    let mut place = 0;
    while place < 4 * 256 {
        let (byte, position) = (place / 4, place % 4);
        fours[byte][position] = base::LETTERS[byte >> (6 - 2 * position) & 3];
        place += 1;
    }
    fours
};

/// Multiplies to 128 bits and XORs the two halves, so that every input bit affects every output bit.
#[inline(always)]
pub(crate) fn fold_multiply(x: u64, by: u64) -> u64 {
    let product = u128::from(x) * u128::from(by);
    (product >> 64) as u64 ^ product as u64
}

/// Runs `$body` with the type `$K` bound to the narrowest integer that holds `$k` bases.
#[macro_export]
macro_rules! with_kmer {
    ($k:expr, $K:ident => $body:expr) => {
        match $k {
            0..=16 => {
                type $K = u32;
                $body
            }
            17..=32 => {
                type $K = u64;
                $body
            }
            33..=64 => {
                type $K = u128;
                $body
            }
            _ => {
                type $K = $crate::kmer::Wide;
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_complement(codes: &[u8]) -> Vec<u8> {
        codes.iter().rev().map(|c| 3 - c).collect()
    }

    fn letters(codes: &[u8]) -> Vec<u8> {
        codes.iter().map(|&c| base::LETTERS[usize::from(c)]).collect()
    }

    #[test]
    fn letters_are_those_of_the_kmer() {
        for k in 1..=64 {
            let kmer = u128::mask(k) & 0x2437_54a3_243f_6a89_9e37_79b9_7f4a_7c15;
            let (mut found, mut expected) = (b"x".to_vec(), b"x".to_vec());
            kmer.write_letters(k, &mut found);
            expected.extend((0..k).map(|at| base::LETTERS[usize::from(kmer.base(at, k))]));
            assert_eq!(found, expected);
        }
    }

    fn check<K: Kmer>(codes: &[u8]) {
        let k = codes.len();
        let kmer = K::from_letters(&letters(codes)).expect("bases");
        let mut text = Vec::new();
        kmer.write_letters(k, &mut text);
        assert_eq!(text, letters(codes));
        let complement = K::from_letters(&letters(&naive_complement(codes))).expect("bases");
        let rolled = codes.iter().fold(K::default(), |rc, &c| rc.push_complement(c, k));
        assert_eq!(rolled, complement);
        assert_eq!(kmer.reverse_complement(k), complement);
        let mut packed = vec![0xe4; K::BYTES + 1];
        for (i, &c) in codes.iter().enumerate() {
            packed[i / 4] = packed[i / 4] & !(3 << (6 - 2 * (i % 4))) | c << (6 - 2 * (i % 4));
        }
        assert_eq!(K::from_packed(&packed, k), kmer);
        assert_eq!(complement.reverse_complement(k), kmer);
        assert_eq!(kmer.cmp(&complement), codes.cmp(&naive_complement(codes)[..]));
        assert_eq!(kmer.and(K::mask(k)), kmer);
        let mut bytes = vec![0; K::BYTES];
        kmer.store(&mut bytes);
        assert_eq!(K::load(&bytes), kmer);
        assert_eq!(kmer.add(complement).sub(complement), kmer);
        assert_eq!(kmer.shl(2).shr(2).and(K::mask(k - 1)), kmer.and(K::mask(k - 1)));
        let highest = codes.iter().position(|&c| c > 0);
        let bits = highest.map_or(0, |at| 2 * (k - at) as u32 - u32::from(codes[at] < 2));
        assert_eq!(kmer.bit_len(), bits);
        for prefix_bits in [0, 1, 2, 7, 12, 32] {
            if prefix_bits <= 2 * k as u32 && prefix_bits <= 32 {
                let whole = (0..prefix_bits as usize)
                    .fold(0u64, |p, bit| p << 1 | u64::from(codes[bit / 2] >> (1 - bit % 2) & 1));
                assert_eq!(u64::from(kmer.prefix(k, prefix_bits)), whole);
            }
        }
    }

    proptest! {
        #[test]
        fn kmers_of_every_width_agree_with_their_letters(
            codes in proptest::collection::vec(0u8..4, 1..=128),
        ) {
            with_kmer!(codes.len(), K => check::<K>(&codes));
            check::<Wide>(&codes);
        }

        #[test]
        fn rolling_gives_each_kmer_of_a_sequence(
            codes in proptest::collection::vec(0u8..4, 128..300), k in 1usize..=128,
        ) {
            with_kmer!(k, K => {
                let mask = K::mask(k);
                let (mut forward, mut reverse) = (K::default(), K::default());
                for (i, &c) in codes.iter().enumerate() {
                    forward = forward.push(c, mask);
                    reverse = reverse.push_complement(c, k);
                    if i + 1 >= k {
                        let expected = K::from_letters(&letters(&codes[i + 1 - k..=i]));
                        prop_assert_eq!(Some(forward), expected);
                        prop_assert_eq!(reverse, forward.reverse_complement(k));
                    }
                }
            });
        }
    }

    #[test]
    fn letters_that_are_no_kmer_are_refused() {
        assert_eq!(u32::from_letters(b""), None);
        assert_eq!(u32::from_letters(b"ACGN"), None);
        assert_eq!(u32::from_letters(&[b'A'; 17]), None);
        assert_eq!(u64::from_letters(b"acgu"), Some(0b00_01_10_11));
    }
}
