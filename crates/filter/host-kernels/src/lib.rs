//! What the kernels of `crates/filter/cuda` decide, compiled by the host's C++ compiler: what CI can
//! test of them without a GPU. For tests only.
#![allow(unsafe_code, reason = "calls device functions that were compiled for the host")]

mod ffi;

/// The kernels, by number.
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

/// A sequence: its planes, and how many bases it has.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'p> {
    /// Low bits, high bits and, if there are letters that are no bases, these.
    pub words: &'p [u64],
    /// Bases.
    pub len: usize,
}

impl Planes<'_> {
    fn has_others(&self) -> bool {
        let plane = self.len.div_ceil(64);
        assert!(self.words.len() == 2 * plane || self.words.len() == 3 * plane);
        plane > 0 && self.words.len() == 3 * plane
    }
}

/// How many kernels the C++ has.
pub fn kernels() -> u32 {
    // SAFETY: no arguments.
    unsafe { ffi::mgpu_host_filter_kernels() }
}

/// The edits by which a kernel accepts the pair of a read and `len` bases of a reference from `at`
/// on, if it does. The kernel must be made for the pair.
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
    // SAFETY: both sequences lie in their planes; the call keeps no address.
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
