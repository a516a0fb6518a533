//! The functions that `cpp/*.cpp` export. They are pure: a result depends only on the arguments.

use std::ffi::c_void;

unsafe extern "C" {
    pub(crate) fn mgpu_host_letter(letter: u8) -> u32;
    pub(crate) fn mgpu_host_norm(rule: u32, pmer: u32, p: i32, canonical: bool) -> u32;
    pub(crate) fn mgpu_host_kmer(
        bytes: u32,
        function: u32,
        kmer: *const c_void,
        code: u32,
        k: i32,
        out: *mut c_void,
    );
}
