//! Transposition of 64 by 64 bits (Warren, Hacker's Delight, 7-3), for eight groups of lanes at once.
#![allow(unsafe_code, reason = "calls the code for a level of SIMD that was detected")]

use super::Bits;
use crate::dispatch;
use crate::simd;

/// Transposes the bits of each group: bit b of row k becomes bit k of row b.
pub fn transpose(level: simd::Level, rows: &mut [Bits; 64]) {
    match level.features() {
        // SAFETY: a `Level` with these features only exists if the processor has AVX-512 F.
        #[cfg(target_arch = "x86_64")]
        simd::Features::Avx512 => unsafe { x86::transpose(rows) },
        // SAFETY: every processor of this target has NEON.
        #[cfg(target_arch = "aarch64")]
        simd::Features::Neon => unsafe { neon::transpose(rows) },
        _ => plain(level, rows),
    }
}

dispatch! {
    fn plain(rows: &mut [Bits; 64]) = plain_body
}

#[inline(always)]
fn plain_body(rows: &mut [Bits; 64]) {
    swap::<32>(rows, 0x0000_0000_ffff_ffff);
    swap::<16>(rows, 0x0000_ffff_0000_ffff);
    swap::<8>(rows, 0x00ff_00ff_00ff_00ff);
    swap::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    swap::<2>(rows, 0x3333_3333_3333_3333);
    swap::<1>(rows, 0x5555_5555_5555_5555);
}

/// Exchanges the high bits of each `J` rows with the low bits of the next `J` rows.
#[inline(always)]
fn swap<const J: usize>(rows: &mut [Bits; 64], low: u64) {
    for pair in rows.chunks_exact_mut(2 * J) {
        let (first, second) = pair.split_at_mut(J);
        for (a, b) in first.iter_mut().zip(second) {
            for (a, b) in a.0.iter_mut().zip(&mut b.0) {
                let changed = (*a >> J ^ *b) & low;
                *b ^= changed;
                *a ^= changed << J;
            }
        }
    }
}

/// A version with a row per vector, which the compiler does not find by itself.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Bits;
    use std::arch::x86_64::*;

    /// Transposes in two passes of three steps each, which keep eight rows in registers.
    #[target_feature(enable = "avx512f")]
    pub(super) fn transpose(rows: &mut [Bits; 64]) {
        for k in 0..8 {
            let mut own = std::array::from_fn(|i| load(&rows[k + 8 * i]));
            swap::<4, 32>(&mut own, 0x0000_0000_ffff_ffff);
            swap::<2, 16>(&mut own, 0x0000_ffff_0000_ffff);
            swap::<1, 8>(&mut own, 0x00ff_00ff_00ff_00ff);
            own.iter().enumerate().for_each(|(i, &row)| store(&mut rows[k + 8 * i], row));
        }
        for eight in rows.as_chunks_mut::<8>().0 {
            let mut own = std::array::from_fn(|i| load(&eight[i]));
            swap::<4, 4>(&mut own, 0x0f0f_0f0f_0f0f_0f0f);
            swap::<2, 2>(&mut own, 0x3333_3333_3333_3333);
            swap::<1, 1>(&mut own, 0x5555_5555_5555_5555);
            eight.iter_mut().zip(own).for_each(|(place, row)| store(place, row));
        }
    }

    /// Exchanges bits of rows that are `D` apart in this array and `J` apart in the matrix.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn swap<const D: usize, const J: u32>(rows: &mut [__m512i; 8], low: i64) {
        let low = _mm512_set1_epi64(low);
        for i in (0..8).filter(|i| i & D == 0) {
            let (a, b) = (rows[i], rows[i + D]);
            // Computes (a >> J ^ b) & low: 0x28 is the truth table.
            let changed = _mm512_ternarylogic_epi64::<0x28>(_mm512_srli_epi64::<J>(a), b, low);
            rows[i + D] = _mm512_xor_si512(b, changed);
            rows[i] = _mm512_xor_si512(a, _mm512_slli_epi64::<J>(changed));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(row: &Bits) -> __m512i {
        // SAFETY: a row has 64 bytes, and is aligned to them.
        unsafe { _mm512_load_si512(std::ptr::from_ref(row).cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(place: &mut Bits, row: __m512i) {
        // SAFETY: a row has 64 bytes, and is aligned to them.
        unsafe { _mm512_store_si512(std::ptr::from_mut(place).cast(), row) }
    }
}

/// A version whose steps take two to four instructions for two rows; the six of the plain loop are those of a machine
/// that cannot interleave vectors, or insert shifted bits into one.
#[cfg(target_arch = "aarch64")]
mod neon {
    use super::Bits;
    use std::arch::aarch64::*;

    /// A quarter of the vectors of eight rows.
    type Eight = [uint8x16_t; 8];

    /// Transposes in two passes of three steps each, which keep a quarter of eight rows in registers.
    #[target_feature(enable = "neon")]
    pub(super) fn transpose(rows: &mut [Bits; 64]) {
        for k in 0..8 {
            for quarter in 0..4 {
                let mut own = std::array::from_fn(|i| load(&rows[k + 8 * i], quarter));
                swap::<4>(&mut own, |a, b| interleave_32(a, b));
                swap::<2>(&mut own, |a, b| interleave_16(a, b));
                swap::<1>(&mut own, |a, b| interleave_8(a, b));
                own.iter()
                    .enumerate()
                    .for_each(|(i, &row)| store(&mut rows[k + 8 * i], quarter, row));
            }
        }
        for eight in rows.as_chunks_mut::<8>().0 {
            for quarter in 0..4 {
                let mut own = std::array::from_fn(|i| load(&eight[i], quarter));
                swap::<4>(&mut own, |a, b| insert_4(a, b));
                swap::<2>(&mut own, |a, b| select::<2>(a, b));
                swap::<1>(&mut own, |a, b| select::<1>(a, b));
                eight.iter_mut().zip(own).for_each(|(place, row)| store(place, quarter, row));
            }
        }
    }

    /// Exchanges bits of rows that are `D` apart in this array.
    #[inline]
    #[target_feature(enable = "neon")]
    fn swap<const D: usize>(
        rows: &mut Eight,
        both: impl Fn(uint8x16_t, uint8x16_t) -> [uint8x16_t; 2],
    ) {
        for i in (0..8).filter(|i| i & D == 0) {
            [rows[i], rows[i + D]] = both(rows[i], rows[i + D]);
        }
    }

    /// Exchanges the high halves of the 64-bit words of the first row with the low halves of the second row's.
    #[inline]
    #[target_feature(enable = "neon")]
    fn interleave_32(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        let [a, b] = [a, b].map(|row| vreinterpretq_u32_u8(row));
        [vtrn1q_u32(a, b), vtrn2q_u32(a, b)].map(|row| vreinterpretq_u8_u32(row))
    }

    /// Exchanges the high halves of the 32-bit words of the first row with the low halves of the second row's.
    #[inline]
    #[target_feature(enable = "neon")]
    fn interleave_16(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        let [a, b] = [a, b].map(|row| vreinterpretq_u16_u8(row));
        [vtrn1q_u16(a, b), vtrn2q_u16(a, b)].map(|row| vreinterpretq_u8_u16(row))
    }

    /// Exchanges the high halves of the 16-bit words of the first row with the low halves of the second row's.
    #[inline]
    #[target_feature(enable = "neon")]
    fn interleave_8(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        [vtrn1q_u8(a, b), vtrn2q_u8(a, b)]
    }

    /// Exchanges the high halves of the bytes of the first row with the low halves of the second row's.
    #[inline]
    #[target_feature(enable = "neon")]
    fn insert_4(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        [vsliq_n_u8::<4>(a, b), vsriq_n_u8::<4>(b, a)]
    }

    /// Exchanges each second group of `J` bits of the first row with the group of the second row before it.
    #[inline]
    #[target_feature(enable = "neon")]
    fn select<const J: i32>(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        let low = vdupq_n_u8(u8::MAX / ((1 << J) + 1));
        [vbslq_u8(low, a, vshlq_n_u8::<J>(b)), vbslq_u8(low, vshrq_n_u8::<J>(a), b)]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn load(row: &Bits, quarter: usize) -> uint8x16_t {
        // SAFETY: the load reads the 16 bytes of two words.
        unsafe { vreinterpretq_u8_u64(vld1q_u64(row.0[2 * quarter..][..2].as_ptr())) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn store(row: &mut Bits, quarter: usize, words: uint8x16_t) {
        // SAFETY: the store writes the 16 bytes of two words.
        unsafe { vst1q_u64(row.0[2 * quarter..][..2].as_mut_ptr(), vreinterpretq_u64_u8(words)) }
    }
}
