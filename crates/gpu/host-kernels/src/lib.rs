//! The pure functions of `crates/gpu/cuda/*.cuh`, compiled by the host's C++
//! compiler, so that CI can test this part of the kernels without a GPU. For tests only.
#![allow(unsafe_code, reason = "calls device functions that were compiled for the host")]

mod ffi;

/// Returns whether a letter is a base, and its code, by the shared header.
pub fn letter(letter: u8) -> (bool, u8) {
    // SAFETY: a pure function of its argument.
    let bits = unsafe { ffi::mgpu_host_letter(letter) };
    (bits & 4 != 0, bits as u8 & 3)
}

/// Returns the norm of a p-mer (3 to 15 bases) under the rule with this number, by the shared header.
///
/// # Panics
/// If the length or the number is out of range.
pub fn norm(rule: u32, pmer: u32, p: usize, canonical: bool) -> u32 {
    assert!((3..=15).contains(&p) && rule < 4);
    // SAFETY: a pure function whose arguments are in range.
    unsafe { ffi::mgpu_host_norm(rule, pmer, p as i32, canonical) }
}

/// The functions of k-mers, with their numbers in the C++.
#[derive(Clone, Copy)]
enum Function {
    Mask,
    Push,
    PushComplement,
    ReverseComplement,
    Canonical,
}

/// The shared header's functions of a k-mer in this integer type; k is at least 1 and at most four
/// per byte.
pub trait HostKmer: Copy + Default + sealed::Sealed {
    /// Returns a mask of the low 2k bits.
    fn host_mask(k: usize) -> Self {
        call(Self::default(), Function::Mask, 0, k)
    }

    /// Returns the k-mer of the next position.
    fn host_push(self, code: u8, k: usize) -> Self {
        call(self, Function::Push, code, k)
    }

    /// Returns the reverse complement of the next position's k-mer.
    fn host_push_complement(self, code: u8, k: usize) -> Self {
        call(self, Function::PushComplement, code, k)
    }

    /// Returns the reverse complement.
    fn host_reverse_complement(self, k: usize) -> Self {
        call(self, Function::ReverseComplement, 0, k)
    }

    /// Returns the smaller of the k-mer and its reverse complement.
    fn host_canonical(self, k: usize) -> Self {
        call(self, Function::Canonical, 0, k)
    }
}

mod sealed {
    /// Restricts the trait to the widths for which the C++ is built.
    pub trait Sealed {}

    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

impl HostKmer for u32 {}
impl HostKmer for u64 {}
impl HostKmer for u128 {}

/// Checks k, by which the C++ shifts, and calls the function.
fn call<K: HostKmer>(kmer: K, function: Function, code: u8, k: usize) -> K {
    let (bytes, mut out) = (size_of::<K>(), K::default());
    assert!(k >= 1 && k <= 4 * bytes);
    let (of, to) = ((&raw const kmer).cast(), (&raw mut out).cast());
    // SAFETY: a pure function, k is in range, and `to` has the size of a k-mer: the trait is sealed.
    unsafe {
        ffi::mgpu_host_kmer(bytes as u32, function as u32, of, code.into(), k as i32, to);
    }
    out
}
