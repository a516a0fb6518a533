//! The decisions of the kernels in `crates/filter/cuda`, compiled with the host's C++ compiler, so that CI can
//! test them without a GPU. For tests only.
#![allow(unsafe_code, reason = "calls device functions that were compiled for the host")]

mod ffi;

/// The kernels by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names as in decide.cuh")]
pub enum Kernel {
    Narrow32,
    Narrow64,
    Narrow32Others,
    Narrow64Others,
    SemiGlobal32,
    SemiGlobal64,
    Banded1,
    Banded2,
    Banded4,
    Banded8,
    Rows1,
    Rows2,
    Rows4,
    Rows8,
    GateKeeper,
    GateKeeperOthers,
    Snake,
    SnakeOthers,
    Published,
}

/// The planes of a sequence, and its length.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'p> {
    /// The planes of low bits, of high bits and, if there are any, of ambiguous letters.
    pub words: &'p [u64],
    /// The number of bases.
    pub len: usize,
}

impl Planes<'_> {
    fn has_others(&self) -> bool {
        let plane = self.len.div_ceil(64);
        assert!(self.words.len() == 2 * plane || self.words.len() == 3 * plane);
        plane > 0 && self.words.len() == 3 * plane
    }
}

/// Returns the number of kernels in the C++ code.
pub fn kernels() -> u32 {
    // SAFETY: no arguments.
    unsafe { ffi::mgpu_host_filter_kernels() }
}

/// Returns the number of edits by which a kernel accepts the pair of a read and `len` bases of a reference at
/// `at`; `None` if it rejects the pair. The kernel must support the pair.
pub fn decide(
    kernel: Kernel,
    read: Planes<'_>,
    reference: Planes<'_>,
    [at, len]: [usize; 2],
    e: u32,
    others_match: bool,
    global: bool,
) -> Option<u32> {
    assert!(at + len <= reference.len);
    let flags =
        1 << 63 | u64::from(read.has_others()) << 62 | u64::from(reference.has_others()) << 61;
    // SAFETY: both sequences are within their planes, and the call keeps no address.
    let edits = unsafe {
        ffi::mgpu_host_filter_decide(
            kernel as u32,
            read.words.as_ptr(),
            0,
            read.len as u32,
            at as u64 | flags,
            len as u32,
            reference.words.as_ptr(),
            reference.len as u64,
            e,
            others_match,
            global,
        )
    };
    (edits != u32::MAX).then_some(edits)
}
