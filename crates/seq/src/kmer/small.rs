//! k-mers in primitive integers.

use super::{Kmer, fold_multiply};
use crate::packed::reverse_complement_word;

/// An odd constant without structure: digits of the golden ratio. [`MIX_HIGH`] has digits of π.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_HIGH: u64 = 0x2437_54a3_243f_6a89;

macro_rules! kmer_of_integer {
    ($int:ty, $hash:expr, $complement:expr) => {
        impl Kmer for $int {
            const MAX_K: usize = <$int>::BITS as usize / 2;
            const BYTES: usize = <$int>::BITS as usize / 8;

            #[inline(always)]
            fn mask(k: usize) -> Self {
                <$int>::MAX.shr(<$int>::BITS - 2 * k as u32)
            }
            #[inline(always)]
            fn push(self, code: u8, mask: Self) -> Self {
                (self << 2 | Self::from(code)) & mask
            }
            #[inline(always)]
            fn push_complement(self, code: u8, k: usize) -> Self {
                self >> 2 | Self::from(3 - code) << (2 * (k - 1))
            }
            #[inline(always)]
            fn hash(self) -> u64 {
                #[allow(clippy::redundant_closure_call, reason = "the closure is the argument")]
                ($hash)(self)
            }
            #[inline(always)]
            fn reverse_complement(self, k: usize) -> Self {
                #[allow(clippy::redundant_closure_call, reason = "the closure is the argument")]
                let all: Self = ($complement)(self);
                all.shr(<$int>::BITS - 2 * k as u32)
            }
            #[inline(always)]
            fn from_packed(bytes: &[u8], k: usize) -> Self {
                Self::from_be_bytes(bytes.as_chunks().0[0]) >> (<$int>::BITS - 2 * k as u32)
            }
            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self.checked_shr(bits).unwrap_or(0)
            }
            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                self.checked_shl(bits).unwrap_or(0)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_low(value: u64) -> Self {
                value as $int
            }
            #[inline(always)]
            fn bit_len(self) -> u32 {
                <$int>::BITS - self.leading_zeros()
            }
            #[inline(always)]
            fn store(self, bytes: &mut [u8]) {
                // An array of constant size is stored without a call to memcpy.
                bytes.as_chunks_mut().0[0] = self.to_le_bytes();
            }
            #[inline(always)]
            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.as_chunks().0[0])
            }
        }
    };
}

kmer_of_integer!(
    u32,
    |x| fold_multiply(u64::from(x) ^ MIX_HIGH, MIX),
    |x| (reverse_complement_word(u64::from(x)) >> 32) as u32
);
kmer_of_integer!(u64, |x| fold_multiply(x ^ MIX_HIGH, MIX), reverse_complement_word);
kmer_of_integer!(
    u128,
    |x: u128| fold_multiply(x as u64 ^ fold_multiply((x >> 64) as u64 ^ MIX_HIGH, MIX), MIX),
    |x: u128| {
        u128::from(reverse_complement_word(x as u64)) << 64
            | u128::from(reverse_complement_word((x >> 64) as u64))
    }
);
