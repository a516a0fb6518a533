//! The pure functions of `crates/gpu/cuda/*.cuh`, compiled by the host's C++
//! compiler: what CI can test of the kernels without a GPU. For tests only.
#![allow(unsafe_code, reason = "calls device functions that were compiled for the host")]

mod ffi;

/// The shared header's (is a base, code) of a letter.
pub fn letter(letter: u8) -> (bool, u8) {
    // SAFETY: a pure function of its argument.
    let bits = unsafe { ffi::mgpu_host_letter(letter) };
    (bits & 4 != 0, bits as u8 & 3)
}

/// The shared header's norm of a p-mer (3 to 15 bases) under the rule of this number.
///
/// # Panics
/// If the length or the number is none of these.
pub fn norm(rule: u32, pmer: u32, p: usize, canonical: bool) -> u32 {
    assert!((3..=15).contains(&p) && rule < 4);
    // SAFETY: a pure function, and its arguments are in range.
    unsafe { ffi::mgpu_host_norm(rule, pmer, p as i32, canonical) }
}

/// The shared header's functions of a k-mer held in this integer; k is at least 1 and at most four
/// bases a byte.
pub trait HostKmer: Copy {
    /// All ones in the low 2k bits.
    fn host_mask(k: usize) -> Self;
    /// The k-mer of the next position.
    fn host_push(self, code: u8, k: usize) -> Self;
    /// The reverse complement of the next position's k-mer.
    fn host_push_complement(self, code: u8, k: usize) -> Self;
    /// The reverse complement.
    fn host_reverse_complement(self, k: usize) -> Self;
    /// The smaller of the k-mer and its reverse complement.
    fn host_canonical(self, k: usize) -> Self;
}

macro_rules! host_kmer {
    ($K:ty, $mask:ident, $push:ident, $push_complement:ident, $complement:ident, $canonical:ident) => {
        impl HostKmer for $K {
            fn host_mask(k: usize) -> Self {
                call(k, |k, out| {
                    // SAFETY: pure, k is in range, and `out` is a place for the result.
                    unsafe { ffi::$mask(k, out) }
                })
            }
            fn host_push(self, code: u8, k: usize) -> Self {
                call(k, |k, out| {
                    // SAFETY: as above; `self` outlives the call.
                    unsafe { ffi::$push(&self, code.into(), k, out) }
                })
            }
            fn host_push_complement(self, code: u8, k: usize) -> Self {
                call(k, |k, out| {
                    // SAFETY: as above.
                    unsafe { ffi::$push_complement(&self, code.into(), k, out) }
                })
            }
            fn host_reverse_complement(self, k: usize) -> Self {
                call(k, |k, out| {
                    // SAFETY: as above.
                    unsafe { ffi::$complement(&self, k, out) }
                })
            }
            fn host_canonical(self, k: usize) -> Self {
                call(k, |k, out| {
                    // SAFETY: as above.
                    unsafe { ffi::$canonical(&self, k, out) }
                })
            }
        }
    };
}

host_kmer!(
    u32,
    mgpu_host_mask_u32,
    mgpu_host_push_u32,
    mgpu_host_push_complement_u32,
    mgpu_host_reverse_complement_u32,
    mgpu_host_canonical_u32
);
host_kmer!(
    u64,
    mgpu_host_mask_u64,
    mgpu_host_push_u64,
    mgpu_host_push_complement_u64,
    mgpu_host_reverse_complement_u64,
    mgpu_host_canonical_u64
);
host_kmer!(
    u128,
    mgpu_host_mask_u128,
    mgpu_host_push_u128,
    mgpu_host_push_complement_u128,
    mgpu_host_reverse_complement_u128,
    mgpu_host_canonical_u128
);

/// Checks k, which the C++ shifts by, and passes a place for the result.
fn call<K: Default>(k: usize, function: impl FnOnce(i32, &mut K)) -> K {
    assert!(k >= 1 && k <= 4 * size_of::<K>());
    let mut out = K::default();
    function(k as i32, &mut out);
    out
}
