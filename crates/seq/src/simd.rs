//! Which vector instructions this machine has, found out once.
//!
//! Every vectorised routine of this crate is one plain Rust function that the compiler builds
//! three times (portable, AVX2, AVX-512) with [`dispatch!`](crate::dispatch!); the level picks the copy at run time.
//! All copies give the same answers, and tests hold each against a naive oracle.

use std::sync::OnceLock;

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every machine of the build target has.
    Portable,
    /// AVX2, BMI1 and BMI2 (x86-64-v3).
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

impl Level {
    /// The best level of this machine, or a lower one that `MERGANSER_SIMD` names
    /// (`portable`, `avx2`, `avx512`; a level the machine lacks is not taken).
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let wanted = match std::env::var("MERGANSER_SIMD").as_deref() {
                Ok("portable") => Level::Portable,
                Ok("avx2") => Level::Avx2,
                _ => Level::Avx512,
            };
            wanted.min(detect())
        })
    }

    /// All levels that this machine can run, lowest first: for tests and benchmarks.
    pub fn available() -> Vec<Level> {
        let best = detect();
        [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= best).collect()
    }

    /// The level's name as `MERGANSER_SIMD` and `--version` spell it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        _ => Level::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Portable
}

/// Asks the cache for the line of `slice[index]`; no effect on any result, and none at all if the
/// index is out of range or the target has no such instruction.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = slice.as_ptr().wrapping_add(index).cast();
        // SAFETY: a prefetch reads nothing that the program could see and never faults, whatever
        // the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Builds `$body` (an `#[inline(always)]` function) once for each level and gives `$name`, a safe
/// function that takes the level first and runs the copy for it.
///
/// `$name` must be called with a level that [`Level::best`] or [`Level::available`] gave; levels
/// cannot be had otherwise without lying about the machine, so the check is a debug assertion.
#[macro_export]
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $([$($generics:tt)*])? ($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? = $body:expr) => {
        $(#[$meta])*
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
                match level {
                    // SAFETY: a `Level` above `Portable` is only made by `simd::detect`, which
                    // asked the CPU for every feature that the copy is built with.
                    $crate::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::simd::Level::Portable => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
