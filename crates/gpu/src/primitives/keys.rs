//! The kinds of keys, each with its own functions.

use crate::ffi::{self, RawStream, Status};
use crate::memory::Pod;
use std::ffi::c_void;
use std::ops::{Range, RangeInclusive};

/// An integer that CUB is built for here: `u32`, `u64` or `u128`.
pub trait Key: Pod + Ord + Default + sealed::Sealed {
    #[doc(hidden)]
    /// # Safety
    /// As [`crate::ffi`] says.
    unsafe fn sort(
        scratch: *mut c_void,
        scratch_bytes: *mut u64,
        buffers: [*mut Self; 2],
        items: usize,
        bits: &Range<u32>,
        in_second: &mut bool,
        stream: RawStream,
    ) -> Status;

    #[doc(hidden)]
    #[allow(clippy::too_many_arguments, reason = "as the C++ has it")]
    /// # Safety
    /// As [`crate::ffi`] says.
    unsafe fn encode(
        scratch: *mut c_void,
        scratch_bytes: *mut u64,
        keys: *const Self,
        items: usize,
        unique: *mut Self,
        counts: *mut u32,
        runs: *mut u64,
        stream: RawStream,
    ) -> Status;

    #[doc(hidden)]
    /// # Safety
    /// As [`crate::ffi`] says.
    unsafe fn select(
        scratch: *mut c_void,
        scratch_bytes: *mut u64,
        arguments: SelectRuns<Self>,
        stream: RawStream,
    ) -> Status;

    #[doc(hidden)]
    /// # Safety
    /// As [`crate::ffi`] says.
    unsafe fn canonicalize(
        kmers: *const Self,
        items: usize,
        k: usize,
        out: *mut Self,
        stream: RawStream,
    ) -> Status;
}

/// The arguments of a selection.
#[doc(hidden)]
#[derive(Debug)]
pub struct SelectRuns<K> {
    pub(super) keys: *const K,
    pub(super) counts: *const u32,
    pub(super) runs: u64,
    pub(super) within: RangeInclusive<u32>,
    pub(super) keys_out: *mut K,
    pub(super) counts_out: *mut u32,
    pub(super) selected: *mut u64,
}

mod sealed {
    /// Only the widths that the C++ is built for.
    pub trait Sealed {}
}

macro_rules! key {
    ($K:ty, $sort:ident, $encode:ident, $select:ident, $canonicalize:ident) => {
        impl sealed::Sealed for $K {}

        impl Key for $K {
            unsafe fn sort(
                scratch: *mut c_void,
                scratch_bytes: *mut u64,
                [first, second]: [*mut Self; 2],
                items: usize,
                bits: &Range<u32>,
                in_second: &mut bool,
                stream: RawStream,
            ) -> Status {
                let (items, begin) = (items as u64, bits.start as i32);
                let end = bits.end.min(<$K>::BITS) as i32;
                // SAFETY: the caller's promise.
                unsafe {
                    ffi::$sort(
                        scratch,
                        scratch_bytes,
                        first,
                        second,
                        items,
                        begin,
                        end,
                        in_second,
                        stream,
                    )
                }
            }

            unsafe fn encode(
                scratch: *mut c_void,
                scratch_bytes: *mut u64,
                keys: *const Self,
                items: usize,
                unique: *mut Self,
                counts: *mut u32,
                runs: *mut u64,
                stream: RawStream,
            ) -> Status {
                let items = items as u64;
                // SAFETY: the caller's promise.
                unsafe {
                    ffi::$encode(scratch, scratch_bytes, keys, items, unique, counts, runs, stream)
                }
            }

            unsafe fn select(
                scratch: *mut c_void,
                scratch_bytes: *mut u64,
                a: SelectRuns<Self>,
                stream: RawStream,
            ) -> Status {
                let (least, most) = a.within.into_inner();
                // SAFETY: the caller's promise.
                unsafe {
                    ffi::$select(
                        scratch,
                        scratch_bytes,
                        a.keys,
                        a.counts,
                        a.runs,
                        least,
                        most,
                        a.keys_out,
                        a.counts_out,
                        a.selected,
                        stream,
                    )
                }
            }

            unsafe fn canonicalize(
                kmers: *const Self,
                items: usize,
                k: usize,
                out: *mut Self,
                stream: RawStream,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { ffi::$canonicalize(kmers, items as u64, k as i32, out, stream) }
            }
        }
    };
}

key!(
    u32,
    mgpu_sort_keys_u32,
    mgpu_encode_runs_u32,
    mgpu_select_runs_u32,
    mgpu_canonicalize_kmers_u32
);
key!(
    u64,
    mgpu_sort_keys_u64,
    mgpu_encode_runs_u64,
    mgpu_select_runs_u64,
    mgpu_canonicalize_kmers_u64
);
key!(
    u128,
    mgpu_sort_keys_u128,
    mgpu_encode_runs_u128,
    mgpu_select_runs_u128,
    mgpu_canonicalize_kmers_u128
);
