//! Parts of vectors on which the logical operations of a loop are done before those on the next part.
//!
//! A loop with many vectors per step keeps them in registers if their parts are as wide as a register.
#![allow(
    unsafe_code,
    reason = "the functions for NEON's instructions are unsafe outside code for NEON"
)]

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{Bits, each};

/// A part of a vector: some of its words, one after the other.
pub trait Part:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The number of words, which divides that of a vector.
    const WORDS: usize;
    /// No lane.
    const NONE: Self;

    /// Returns the words of a vector from word `from` on.
    fn load(bits: &Bits, from: usize) -> Self;

    /// Replaces the words of a vector from word `from` on.
    fn store(self, bits: &mut Bits, from: usize);
}

/// A whole vector. The compiler divides it into registers.
impl Part for Bits {
    const WORDS: usize = Bits::NONE.0.len();
    const NONE: Bits = Bits::NONE;

    #[inline(always)]
    fn load(bits: &Bits, _from: usize) -> Bits {
        *bits
    }

    #[inline(always)]
    fn store(self, bits: &mut Bits, _from: usize) {
        *bits = self;
    }
}

/// `W` words in an array, which the compiler keeps in registers of x86-64.
#[derive(Clone, Copy, Debug)]
pub struct Words<const W: usize>([u64; W]);

impl<const W: usize> Part for Words<W> {
    const WORDS: usize = W;
    const NONE: Words<W> = Words([0; W]);

    #[inline(always)]
    fn load(bits: &Bits, from: usize) -> Words<W> {
        Words(std::array::from_fn(|g| bits[from + g]))
    }

    #[inline(always)]
    fn store(self, bits: &mut Bits, from: usize) {
        bits.0[from..from + W].copy_from_slice(&self.0);
    }
}

macro_rules! operations {
    ($($trait:ident, $name:ident, $operator:tt;)*) => {$(
        impl<const W: usize> $trait for Words<W> {
            type Output = Words<W>;

            #[inline(always)]
            fn $name(self, other: Words<W>) -> Words<W> {
                Words(std::array::from_fn(|g| self.0[g] $operator other.0[g]))
            }
        }

        impl $trait for Bits {
            type Output = Bits;

            #[inline(always)]
            fn $name(self, other: Bits) -> Bits {
                each(|g| self[g] $operator other[g])
            }
        }
    )*};
}

operations! {
    BitAnd, bitand, &;
    BitOr, bitor, |;
    BitXor, bitxor, ^;
}

impl<const W: usize> Not for Words<W> {
    type Output = Words<W>;

    #[inline(always)]
    fn not(self) -> Words<W> {
        Words(self.0.map(|word| !word))
    }
}

impl Not for Bits {
    type Output = Bits;

    #[inline(always)]
    fn not(self) -> Bits {
        each(|g| !self[g])
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;
    use std::ops::{BitAnd, BitOr, BitXor, Not};

    use super::{Bits, Part};

    /// A register of NEON: the words of 128 lanes. The compiler uses no vector instructions for arrays of two words.
    #[derive(Clone, Copy, Debug)]
    pub struct Quarter(uint64x2_t);

    impl Part for Quarter {
        const WORDS: usize = 2;
        // SAFETY: all bits of both types may have any value.
        const NONE: Quarter = Quarter(unsafe { std::mem::transmute::<u128, uint64x2_t>(0) });

        #[inline(always)]
        fn load(bits: &Bits, from: usize) -> Quarter {
            // SAFETY: every processor of this target has NEON. The load reads the 16 bytes of two words.
            unsafe { Quarter(vld1q_u64(bits.0[from..][..2].as_ptr())) }
        }

        #[inline(always)]
        fn store(self, bits: &mut Bits, from: usize) {
            // SAFETY: every processor of this target has NEON. The store writes the 16 bytes of two words.
            unsafe { vst1q_u64(bits.0[from..][..2].as_mut_ptr(), self.0) }
        }
    }

    macro_rules! operations {
        ($($trait:ident, $name:ident, $instruction:ident;)*) => {$(
            impl $trait for Quarter {
                type Output = Quarter;

                #[inline(always)]
                fn $name(self, other: Quarter) -> Quarter {
                    // SAFETY: every processor of this target has NEON.
                    unsafe { Quarter($instruction(self.0, other.0)) }
                }
            }
        )*};
    }

    operations! {
        BitAnd, bitand, vandq_u64;
        BitOr, bitor, vorrq_u64;
        BitXor, bitxor, veorq_u64;
    }

    impl Not for Quarter {
        type Output = Quarter;

        #[inline(always)]
        fn not(self) -> Quarter {
            // SAFETY: every processor of this target has NEON.
            unsafe { Quarter(vreinterpretq_u64_u8(vmvnq_u8(vreinterpretq_u8_u64(self.0)))) }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub use neon::Quarter;
