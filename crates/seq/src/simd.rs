//! Detection of the vector instructions of this machine, done once.
//!
//! Most vectorized routines of this crate are one plain Rust function that the compiler builds three times on x86-64
//! (portable, AVX2, AVX-512) with [`dispatch!`](crate::dispatch!). The level selects the copy at run time. All copies
//! return the same results, and tests compare each with a naive implementation.
//!
//! Every 64-bit ARM processor has NEON, and the compiler uses it for the portable copy. So the level for NEON differs
//! from the portable one only in routines that have code of their own for it.
#![allow(unsafe_code, reason = "the prefetch instruction takes a raw address")]

use std::sync::OnceLock;

/// A set of vector instructions that this machine has.
///
/// A level can be obtained only from [`best`](Self::best) or [`available`](Self::available), which check that the
/// processor has every feature of the set. So a level is proof that code built for it can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Features);

/// The instruction set of a [`Level`], to match on. Unlike a level, it is no proof that the machine has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Features {
    /// The instructions that every machine of the build target has.
    Portable,
    /// NEON (64-bit ARM).
    Neon,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT (x86-64-v3).
    Avx2,
    /// The features of [`Avx2`](Self::Avx2) and AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

impl Features {
    /// The sets that this build has code for, lowest first.
    const COMPILED: &[Features] = if cfg!(target_arch = "x86_64") {
        &[Features::Portable, Features::Avx2, Features::Avx512]
    } else if cfg!(target_arch = "aarch64") {
        &[Features::Portable, Features::Neon]
    } else {
        &[Features::Portable]
    };

    /// Returns the name, as spelled by `MERGANSER_SIMD` and `--version`.
    fn name(self) -> &'static str {
        match self {
            Features::Portable => "portable",
            Features::Neon => "neon",
            Features::Avx2 => "avx2",
            Features::Avx512 => "avx512",
        }
    }
}

impl Level {
    /// Returns the best level of this machine, or a lower one that is named by `MERGANSER_SIMD` (`portable`, `neon`,
    /// `avx2` or `avx512`). If this machine lacks the named level, its best level is returned.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let best = detect();
            let wanted = std::env::var("MERGANSER_SIMD").ok();
            let named = |one: &&Features| Some(one.name()) == wanted.as_deref();
            Level(Features::COMPILED.iter().find(named).map_or(best, |&wanted| wanted.min(best)))
        })
    }

    /// Returns all levels that this machine can run, lowest first, for tests and benchmarks.
    pub fn available() -> Vec<Level> {
        let best = detect();
        Features::COMPILED.iter().filter(|&&one| one <= best).map(|&one| Level(one)).collect()
    }

    /// Returns the names of all levels that this build has code for, lowest first.
    pub fn compiled() -> impl Iterator<Item = &'static str> {
        Features::COMPILED.iter().map(|one| one.name())
    }

    /// Returns the instruction set, to match on.
    #[inline]
    pub fn features(self) -> Features {
        self.0
    }

    /// Returns the name of the level, as spelled by `MERGANSER_SIMD` and `--version`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

/// Returns the best instruction set of this machine: it has every feature that the copies of
/// [`dispatch!`](crate::dispatch!) for that set are built with.
#[cfg(target_arch = "x86_64")]
fn detect() -> Features {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Features::Avx512,
        (true, false) => Features::Avx2,
        _ => Features::Portable,
    }
}

/// Returns the best instruction set of every machine of the target.
#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Features {
    if cfg!(target_arch = "aarch64") { Features::Neon } else { Features::Portable }
}

/// Prefetches the cache line of `slice[index]`, whose index may be out of range. It never changes a result, and does
/// nothing if the target has no such instruction.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    let address = slice.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that is visible to the program and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    // The function for it in `std::arch` is not stable.
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the instruction changes no register, no flag and no memory.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(nomem, nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Returns a bit for each of 16 words that equals `wanted`; the first word's is the lowest.
#[inline(always)]
pub fn equal_words(words: &[u32; 16], wanted: u32) -> u32 {
    // The compiler makes three times as many instructions from the plain loop.
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m128i, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16,
            _mm_packs_epi32, _mm_set1_epi32,
        };
        // SAFETY: every x86-64 processor has SSE2, and the four loads read the 64 bytes of `words`.
        unsafe {
            let all = _mm_set1_epi32(wanted.cast_signed());
            let first = words.as_ptr().cast::<__m128i>();
            let equal = |at| _mm_cmpeq_epi32(_mm_loadu_si128(first.add(at)), all);
            let low = _mm_packs_epi32(equal(0), equal(1));
            let high = _mm_packs_epi32(equal(2), equal(3));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)).cast_unsigned()
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use std::arch::aarch64::{
            vaddvq_u16, vandq_u16, vceqq_u32, vdupq_n_u32, vld1q_u16, vld1q_u32, vorrq_u16,
            vreinterpretq_u16_u32, vuzp1q_u16,
        };
        const BITS: [u16; 16] = {
            let mut bits = [0; 16];
            let mut at = 0;
            while at < bits.len() {
                bits[at] = 1 << at;
                at += 1;
            }
            bits
        };
        // SAFETY: every processor of this target has NEON. The loads read the 64 bytes of `words` and the 32 bytes of
        // `BITS`.
        unsafe {
            let all = vdupq_n_u32(wanted);
            let equal = |at: usize| {
                vreinterpretq_u16_u32(vceqq_u32(vld1q_u32(words.as_ptr().add(4 * at)), all))
            };
            let low = vandq_u16(vuzp1q_u16(equal(0), equal(1)), vld1q_u16(BITS.as_ptr()));
            let high = vandq_u16(vuzp1q_u16(equal(2), equal(3)), vld1q_u16(BITS.as_ptr().add(8)));
            u32::from(vaddvq_u16(vorrq_u16(low, high)))
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        words.iter().rev().fold(0, |bits, &word| bits << 1 | u32::from(word == wanted))
    }
}

/// Defines a safe function `$name` that takes a level as its first argument and runs the copy of `$body` for that
/// level.
///
/// `$body` is an `#[inline(always)]` function that is built once for each level; the portable copy is also that for
/// NEON. `$name` is safe because a [`Level`] is proof that the machine has its instructions.
#[macro_export]
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $([$($generics:tt)*])? ($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? = $body:expr) => {
        $(#[$meta])*
        #[allow(unsafe_code, reason = "a level is proof that the machine has its instructions")]
        $vis fn $name $(<$($generics)*>)? (level: $crate::simd::Level, $($arg: $type),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2 $(<$($generics)*>)? ($($arg: $type),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx512 $(<$($generics)*>)? ($($arg: $type),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                match level.features() {
                    // SAFETY: only `simd` creates a `Level`, and `simd::detect` has checked that the processor has
                    // every feature that this copy is built with.
                    $crate::simd::Features::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Features::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::simd::Features::Portable | $crate::simd::Features::Neon => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::equal_words;

    #[test]
    fn equal_words_are_all_that_are_equal() {
        for bits in 0..1u32 << 16 {
            let words =
                std::array::from_fn(
                    |at| if bits >> at & 1 == 1 { 7 } else { at as u32 * 0x0001_0001 },
                );
            let expected = (0..16).filter(|&at| words[at] == 7).fold(0, |bits, at| bits | 1 << at);
            assert_eq!(equal_words(&words, 7), expected);
        }
        assert_eq!(equal_words(&[u32::MAX; 16], u32::MAX), 0xffff);
    }
}
