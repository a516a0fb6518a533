//! Transposition of 64 by 64 bits (Warren, Hacker's Delight, 7-3), for eight groups of lanes at once.
#![allow(unsafe_code, reason = "calls the code for a level of SIMD that was detected")]

use super::Bits;
use crate::dispatch;
#[cfg(target_arch = "x86_64")]
use crate::simd::Features;
use crate::simd::Level;

/// Transposes the bits of each group: bit b of row k becomes bit k of row b.
pub fn transpose(level: Level, rows: &mut [Bits; 64]) {
    #[cfg(target_arch = "x86_64")]
    if level.features() == Features::Avx512 {
        // SAFETY: a `Level` with these features only exists if the processor has AVX-512 F.
        return unsafe { x86::transpose(rows) };
    }
    plain(level, rows);
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
