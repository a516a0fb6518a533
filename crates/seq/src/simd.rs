//! Which vector instructions this machine has, found out once.
//!
//! Every vectorised routine of this crate is one plain Rust function that the compiler builds
//! three times (portable, AVX2, AVX-512) with [`dispatch!`](crate::dispatch!); the level picks the copy at run time.
//! All copies give the same answers, and tests hold each against a naive oracle.
#![allow(unsafe_code, reason = "an instruction that asks for memory ahead, by an address")]

use std::sync::OnceLock;

/// A set of vector instructions that this machine has.
///
/// One is had from [`best`](Self::best) or [`available`](Self::available) alone, which asked the
/// processor for every feature of the set: who holds a level may run code that is built with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Features);

/// The instructions of a [`Level`], to match on. It proves nothing of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Features {
    /// What every machine of the build target has.
    Portable,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT (x86-64-v3).
    Avx2,
    /// The same and AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

impl Features {
    const ALL: [Features; 3] = [Features::Portable, Features::Avx2, Features::Avx512];

    /// The name as `MERGANSER_SIMD` and `--version` spell it.
    fn name(self) -> &'static str {
        match self {
            Features::Portable => "portable",
            Features::Avx2 => "avx2",
            Features::Avx512 => "avx512",
        }
    }
}

impl Level {
    /// The best level of this machine, or a lower one that `MERGANSER_SIMD` names
    /// (`portable`, `avx2`, `avx512`; a level that the machine lacks is not taken).
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let wanted = std::env::var("MERGANSER_SIMD").ok();
            let wanted =
                Features::ALL.into_iter().find(|&one| Some(one.name()) == wanted.as_deref());
            Level(wanted.unwrap_or(Features::Avx512).min(detect()))
        })
    }

    /// All levels that this machine can run, lowest first: for tests and benchmarks.
    pub fn available() -> Vec<Level> {
        let best = detect();
        Features::ALL.into_iter().filter(|&one| one <= best).map(Level).collect()
    }

    /// Its instructions, to match on.
    #[inline]
    pub fn features(self) -> Features {
        self.0
    }

    /// The level's name as `MERGANSER_SIMD` and `--version` spell it.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

/// What this machine has: every feature that a copy of [`dispatch!`](crate::dispatch!) is built with.
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

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Features {
    Features::Portable
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
/// `$name` is safe, as a [`Level`] is proof that the machine has its instructions.
#[macro_export]
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $([$($generics:tt)*])? ($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? = $body:expr) => {
        $(#[$meta])*
        #[allow(unsafe_code, reason = "a level is proof that its instructions are there")]
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
                    // SAFETY: nobody but `simd` makes a `Level`, and `simd::detect` asked the
                    // processor for every feature that the copy is built with.
                    $crate::simd::Features::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Features::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::simd::Features::Portable => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
