//! The kinds of keys, each with its own functions.

use crate::ffi::{self, RawStream, Status};
use crate::memory::Pod;
use std::ffi::c_void;
use std::ops::{Range, RangeInclusive};

/// The buffers and the order of a sort.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sort<K> {
    pub(super) keys: [*mut K; 2],
    /// Null if the keys have no values.
    pub(super) values: [*mut u32; 2],
    pub(super) items: usize,
    pub(super) bits: Range<u32>,
}

/// An integer that can be sorted: `u32`, `u64`, `u128`, or 256 bits as `[high, low]`.
pub trait SortKey: Pod + Ord + Default + sealed::Sealed {
    #[doc(hidden)]
    /// Sorts keys, or keys with their values.
    ///
    /// # Safety
    /// As [`crate::ffi`] says.
    unsafe fn sort(
        scratch: *mut c_void,
        scratch_bytes: *mut u64,
        sort: &Sort<Self>,
        in_second: &mut bool,
        stream: RawStream,
    ) -> Status;
}

/// An integer that CUB's run lengths are built for here: `u32`, `u64` or `u128`.
pub trait Key: SortKey {
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

macro_rules! sort_key {
    ($K:ty, $keys:ident, $pairs:ident) => {
        impl sealed::Sealed for $K {}

        impl SortKey for $K {
            unsafe fn sort(
                scratch: *mut c_void,
                scratch_bytes: *mut u64,
                Sort { keys: [first, second], values, items, bits }: &Sort<Self>,
                in_second: &mut bool,
                stream: RawStream,
            ) -> Status {
                let (first, second, items, begin) =
                    (*first, *second, *items as u64, bits.start as i32);
                let end = bits.end.min(8 * size_of::<$K>() as u32) as i32;
                if values[0].is_null() {
                    // SAFETY: the caller's promise.
                    return unsafe {
                        ffi::$keys(
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
                    };
                }
                // SAFETY: the caller's promise.
                unsafe {
                    ffi::$pairs(
                        scratch,
                        scratch_bytes,
                        first,
                        second,
                        values[0],
                        values[1],
                        items,
                        begin,
                        end,
                        in_second,
                        stream,
                    )
                }
            }
        }
    };
}

sort_key!(u32, mgpu_sort_keys_u32, mgpu_sort_pairs_u32);
sort_key!(u64, mgpu_sort_keys_u64, mgpu_sort_pairs_u64);
sort_key!(u128, mgpu_sort_keys_u128, mgpu_sort_pairs_u128);
sort_key!([u128; 2], mgpu_sort_keys_u256, mgpu_sort_pairs_u256);

macro_rules! key {
    ($K:ty, $encode:ident, $select:ident, $canonicalize:ident) => {
        impl Key for $K {
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

key!(u32, mgpu_encode_runs_u32, mgpu_select_runs_u32, mgpu_canonicalize_kmers_u32);
key!(u64, mgpu_encode_runs_u64, mgpu_select_runs_u64, mgpu_canonicalize_kmers_u64);
key!(u128, mgpu_encode_runs_u128, mgpu_select_runs_u128, mgpu_canonicalize_kmers_u128);
