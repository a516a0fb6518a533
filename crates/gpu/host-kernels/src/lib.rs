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

/// The functions of k-mers, by the numbers that the C++ has for them.
#[derive(Clone, Copy)]
enum Function {
    Mask,
    Push,
    PushComplement,
    ReverseComplement,
    Canonical,
}

/// The shared header's functions of a k-mer held in this integer; k is at least 1 and at most four
/// bases a byte.
pub trait HostKmer: Copy + Default + sealed::Sealed {
    /// All ones in the low 2k bits.
    fn host_mask(k: usize) -> Self {
        call(Self::default(), Function::Mask, 0, k)
    }

    /// The k-mer of the next position.
    fn host_push(self, code: u8, k: usize) -> Self {
        call(self, Function::Push, code, k)
    }

    /// The reverse complement of the next position's k-mer.
    fn host_push_complement(self, code: u8, k: usize) -> Self {
        call(self, Function::PushComplement, code, k)
    }

    /// The reverse complement.
    fn host_reverse_complement(self, k: usize) -> Self {
        call(self, Function::ReverseComplement, 0, k)
    }

    /// The smaller of the k-mer and its reverse complement.
    fn host_canonical(self, k: usize) -> Self {
        call(self, Function::Canonical, 0, k)
    }
}

mod sealed {
    /// Only the widths that the C++ is built for.
    pub trait Sealed {}

    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

impl HostKmer for u32 {}
impl HostKmer for u64 {}
impl HostKmer for u128 {}

/// Checks k, which the C++ shifts by, and calls the function.
fn call<K: HostKmer>(kmer: K, function: Function, code: u8, k: usize) -> K {
    let (bytes, mut out) = (size_of::<K>(), K::default());
    assert!(k >= 1 && k <= 4 * bytes);
    let (of, to) = ((&raw const kmer).cast(), (&raw mut out).cast());
    // SAFETY: pure, k is in range, and `to` is a place for a k-mer of as many bytes, as sealed types have.
    unsafe {
        ffi::mgpu_host_kmer(bytes as u32, function as u32, of, code.into(), k as i32, to);
    }
    out
}
