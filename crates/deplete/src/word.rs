//! The integers that hold minimizers, and values of which there is one kind for each of them.

use std::ops::{Add, BitAnd, BitOr, BitXor, Shl, Shr};

use merganser_seq::kmer::Kmer;

/// An integer that holds minimizers: `u64` for k up to 31, `u128` for larger k.
pub trait Word:
    Kmer
    + From<u64>
    + Into<u128>
    + Add<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The size of the integer in bits.
    const BITS: u32 = 8 * Self::BYTES as u32;
    /// The factor that spreads numbers: 2^BITS divided by the golden ratio. It is odd, so that it has an inverse.
    const FACTOR: Self;
    /// The inverse of [`FACTOR`](Word::FACTOR).
    const INVERSE: Self;
    /// The lower bit of each base.
    const LOWER: Self;

    /// Multiplies modulo the width.
    fn times(self, other: Self) -> Self;
    /// Adds; `None` if the sum does not fit.
    fn checked_add(self, other: Self) -> Option<Self>;
    /// Returns the low bits of a number.
    fn truncated(number: u128) -> Self;
    /// Reads as many bases as fit, from position `at` of packed bases: 32 in an integer, the first in the lowest bits.
    fn unpack(packed: &[u64], at: usize) -> Self;
}

/// Returns the inverse of an odd number.
macro_rules! inverse {
    ($int:ty, $factor:expr) => {{
        // Each step of Newton's iteration doubles the number of correct bits.
        let mut inverse: $int = $factor;
        let mut step = 0;
        while step < 6 {
            inverse = inverse.wrapping_mul((2 as $int).wrapping_sub($factor.wrapping_mul(inverse)));
            step += 1;
        }
        inverse
    }};
}

macro_rules! word_of_integer {
    ($int:ty, $factor:expr, $unpack:expr) => {
        impl Word for $int {
            const FACTOR: $int = $factor;
            const INVERSE: $int = inverse!($int, <$int as Word>::FACTOR);
            const LOWER: $int = <$int>::MAX / 3;

            #[inline(always)]
            fn times(self, other: $int) -> $int {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn checked_add(self, other: $int) -> Option<$int> {
                <$int>::checked_add(self, other)
            }
            #[inline(always)]
            fn truncated(number: u128) -> $int {
                number as $int
            }
            #[inline(always)]
            fn unpack(packed: &[u64], at: usize) -> $int {
                #[allow(clippy::redundant_closure_call, reason = "the closure is the argument")]
                ($unpack)(packed, at)
            }
        }
    };
}

word_of_integer!(u64, 0x9e37_79b9_7f4a_7c15, |packed: &[u64], at: usize| {
    let shift = 2 * (at % 32) as u32;
    packed[at / 32] >> shift | packed[at / 32 + 1] << 1 << (63 - shift)
});
word_of_integer!(u128, 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, |packed: &[u64], at: usize| {
    u128::from(u64::unpack(packed, at)) | u128::from(u64::unpack(packed, at + 32)) << 64
});

/// One of two values: for minimizers in 64 bits, or in 128 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByWord<S, L> {
    Short(S),
    Long(L),
}

/// Evaluates `$body` with `$value` bound to the value of a [`ByWord`].
macro_rules! by_word {
    ($either:expr, $value:ident => $body:expr) => {
        match $either {
            $crate::word::ByWord::Short($value) => $body,
            $crate::word::ByWord::Long($value) => $body,
        }
    };
}
pub(crate) use by_word;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_undo_the_factors() {
        assert_eq!(<u64 as Word>::FACTOR.times(<u64 as Word>::INVERSE), 1);
        assert_eq!(<u128 as Word>::FACTOR.times(<u128 as Word>::INVERSE), 1);
    }

    #[test]
    fn bases_are_unpacked_from_any_position() {
        let packed = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978, 0, 0];
        for at in 0..32 {
            let base = |at: usize| u128::from(packed[at / 32] >> (2 * (at % 32)) & 3);
            let expected = (0..64).fold(0, |all, place| all | base(at + place) << (2 * place));
            assert_eq!(u128::unpack(&packed, at), expected);
            assert_eq!(u64::unpack(&packed, at), expected as u64);
        }
    }
}
