//! Conversion of 64 letters at a time to bit planes.
#![allow(unsafe_code, reason = "SIMD loads and stores, within slices whose lengths were checked")]

use crate::simd;

/// The letters of one step.
pub type Block = [u8; 64];

/// The low bits and the high bits of the codes of 64 letters, and a mask of the bases among them.
type Bits = [u64; 3];

/// Writes the planes of `letters`, each ⌈length / 64⌉ words, and returns whether all letters are bases.
pub(super) fn encode(
    level: simd::Level,
    letters: &[u8],
    low: &mut [u64],
    high: &mut [u64],
) -> bool {
    match level.features() {
        // SAFETY: only `simd` creates a `Level`, and `simd::detect` has checked that the processor has every feature
        // that this copy is built with.
        #[cfg(target_arch = "x86_64")]
        simd::Features::Avx512 => unsafe { encode_avx512(letters, low, high) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        simd::Features::Avx2 => unsafe { encode_avx2(letters, low, high) },
        // SAFETY: every processor of this target has NEON.
        #[cfg(target_arch = "aarch64")]
        simd::Features::Neon => unsafe { neon::encode(letters, low, high) },
        _ => encode_with(letters, low, high, portable),
    }
}

/// Writes the planes of a text and the mask of its bases, each ⌈length / 64⌉ words.
pub(super) fn scan(level: simd::Level, text: &[u8], planes: [&mut [u64]; 3]) {
    match level.features() {
        // SAFETY: as in `encode`.
        #[cfg(target_arch = "x86_64")]
        simd::Features::Avx512 => unsafe { scan_avx512(text, planes) },
        // SAFETY: as in `encode`.
        #[cfg(target_arch = "x86_64")]
        simd::Features::Avx2 => unsafe { scan_avx2(text, planes) },
        // SAFETY: as in `encode`.
        #[cfg(target_arch = "aarch64")]
        simd::Features::Neon => unsafe { neon::scan(text, planes) },
        _ => scan_with(text, planes, portable),
    }
}

#[inline(always)]
fn scan_with(text: &[u8], [low, high, bases]: [&mut [u64]; 3], block: impl Fn(&Block) -> Bits) {
    let (blocks, tail) = text.as_chunks::<64>();
    let words = low.iter_mut().zip(high.iter_mut()).zip(bases.iter_mut());
    for (((low, high), bases), letters) in words.zip(blocks) {
        [*low, *high, *bases] = block(letters);
    }
    let at = blocks.len();
    if !tail.is_empty() {
        let mut padded = [0; 64];
        padded[..tail.len()].copy_from_slice(tail);
        [low[at], high[at], bases[at]] = block(&padded);
    }
}

#[inline(always)]
fn encode_with(
    letters: &[u8],
    low: &mut [u64],
    high: &mut [u64],
    block: impl Fn(&Block) -> Bits,
) -> bool {
    let mut bases = u64::MAX;
    let (blocks, tail) = letters.as_chunks::<64>();
    for ((low, high), letters) in low.iter_mut().zip(high.iter_mut()).zip(blocks) {
        let bits = block(letters);
        (*low, *high) = (bits[0], bits[1]);
        bases &= bits[2];
    }
    if tail.is_empty() {
        return bases == u64::MAX;
    }
    // The last 64 letters again; if there are fewer, they are padded with A.
    let past = 64 - tail.len();
    let bits = match letters.last_chunk::<64>() {
        Some(last) => block(last).map(|bits| bits >> past),
        None => {
            let mut padded = [b'A'; 64];
            padded[..tail.len()].copy_from_slice(tail);
            block(&padded).map(|bits| bits & u64::MAX >> past)
        }
    };
    if let (Some(low), Some(high)) = (low.last_mut(), high.last_mut()) {
        (*low, *high) = (bits[0], bits[1]);
    }
    bases == u64::MAX && bits[2] == u64::MAX >> past
}

/// Computes the bits of 64 letters without vector instructions: eight letters are read as a number, and a
/// multiplication gathers one bit of each.
fn portable(letters: &Block) -> Bits {
    let mut bits = [0; 3];
    let (eights, _) = letters.as_chunks::<8>();
    for (i, eight) in eights.iter().enumerate() {
        let x = u64::from_le_bytes(*eight);
        let mut bases = 0;
        for (j, &letter) in eight.iter().enumerate() {
            bases |= u64::from(crate::base::is_base(letter)) << j;
        }
        for (plane, byte) in bits.iter_mut().zip([gather(x >> 1 ^ x >> 2), gather(x >> 2), bases]) {
            *plane |= byte << (8 * i);
        }
    }
    bits
}

/// Gathers the lowest bit of each byte; that of the first byte becomes the lowest bit.
fn gather(x: u64) -> u64 {
    (x & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Bits, Block, encode_with, scan_with};
    use std::arch::x86_64::*;

    /// The upper-case base for each value of the low four bits of a byte. Entries without such a
    /// base hold a byte with other low bits, which matches nothing.
    const BASES: [u8; 16] = [1, b'A', 0, b'C', b'T', b'U', 0, b'G', 0, 0, 0, 0, 0, 0, 0, 0];

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn encode_avx512(letters: &[u8], low: &mut [u64], high: &mut [u64]) -> bool {
        encode_with(letters, low, high, |block| avx512(block))
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn encode_avx2(letters: &[u8], low: &mut [u64], high: &mut [u64]) -> bool {
        encode_with(letters, low, high, |block| avx2(block))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2")]
    pub(super) fn scan_avx512(text: &[u8], planes: [&mut [u64]; 3]) {
        scan_with(text, planes, |block| avx512(block));
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn scan_avx2(text: &[u8], planes: [&mut [u64]; 3]) {
        scan_with(text, planes, |block| avx2(block));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(letters: &Block) -> Bits {
        // SAFETY: the loads read 64 bytes, the size of the block, and 16 bytes, the size of `BASES`; they need no
        // alignment.
        let (x, bases) = unsafe {
            let bases = _mm_loadu_si128(BASES.as_ptr().cast());
            (_mm512_loadu_si512(letters.as_ptr().cast()), _mm512_broadcast_i32x4(bases))
        };
        let first = _mm512_test_epi8_mask(x, _mm512_set1_epi8(2));
        let second = _mm512_test_epi8_mask(x, _mm512_set1_epi8(4));
        let upper = _mm512_and_si512(x, _mm512_set1_epi8(0xdfu8 as i8));
        let base = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(bases, x), upper);
        [first ^ second, second, base]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn avx2(letters: &Block) -> Bits {
        // SAFETY: the load reads 16 bytes, the size of `BASES`; it needs no alignment.
        let bases = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(BASES.as_ptr().cast())) };
        let mut bits = [0; 3];
        let (halves, _) = letters.as_chunks::<32>();
        for (half, shift) in halves.iter().zip([0, 32]) {
            // SAFETY: the load reads 32 bytes, the size of `half`; it needs no alignment.
            let x = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let second = _mm256_movemask_epi8(_mm256_slli_epi16::<5>(x)) as u32;
            let first = _mm256_movemask_epi8(_mm256_slli_epi16::<6>(x)) as u32;
            let upper = _mm256_and_si256(x, _mm256_set1_epi8(0xdfu8 as i8));
            let base = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(bases, x), upper);
            let base = _mm256_movemask_epi8(base) as u32;
            for (plane, half) in bits.iter_mut().zip([first ^ second, second, base]) {
                *plane |= u64::from(half) << shift;
            }
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
use x86::{encode_avx2, encode_avx512, scan_avx2, scan_avx512};

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Bits, Block, encode_with, scan_with};
    use std::arch::aarch64::*;

    /// All ones for each value of the low five bits of a base.
    const BASES: [u8; 32] = {
        let mut bases = [0; 32];
        let mut at = 0;
        while at < bases.len() {
            bases[at] = if crate::base::is_base(b'@' + at as u8) { u8::MAX } else { 0 };
            at += 1;
        }
        bases
    };

    #[target_feature(enable = "neon")]
    pub(super) fn encode(letters: &[u8], low: &mut [u64], high: &mut [u64]) -> bool {
        encode_with(letters, low, high, |letters| block(letters))
    }

    #[target_feature(enable = "neon")]
    pub(super) fn scan(text: &[u8], planes: [&mut [u64]; 3]) {
        scan_with(text, planes, |letters| block(letters));
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn block(letters: &Block) -> Bits {
        // SAFETY: the loads read 64 bytes, the size of the block, and 32 bytes, the size of `BASES`.
        let (x, bases) = unsafe { (vld4q_u8(letters.as_ptr()), vld1q_u8_x2(BASES.as_ptr())) };
        let x = [x.0, x.1, x.2, x.3];
        let second = gather(x.map(|x| vshlq_n_u8::<5>(x)));
        let first = gather(x.map(|x| vshlq_n_u8::<6>(x)));
        let base = gather(x.map(|x| {
            // Letters of either case become numbers below 32, and all other bytes larger ones, which select 0.
            let lower = vorrq_u8(x, vdupq_n_u8(0x20));
            vqtbl2q_u8(bases, veorq_u8(lower, vdupq_n_u8(0x60)))
        }));
        [first ^ second, second, base]
    }

    /// Gathers the highest bit of each of 64 bytes: byte 4i + j of the block is byte i of vector j.
    #[inline]
    #[target_feature(enable = "neon")]
    fn gather([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
        let fours = vsriq_n_u8::<2>(vsriq_n_u8::<1>(d, c), vsriq_n_u8::<1>(b, a));
        let twice = vreinterpretq_u16_u8(vsriq_n_u8::<4>(fours, fours));
        vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(twice)))
    }
}
