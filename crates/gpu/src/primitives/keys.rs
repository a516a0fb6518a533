//! The kinds of keys, each with its own functions, and what these take.

use crate::ffi::{self, EncodeArguments, RawStream, SelectArguments, SortArguments, Status};
use crate::memory::Pod;
use std::ffi::c_void;

/// A function of CUB: its scratch and how many bytes that has or needs, and what it works on. Safe as
/// [`crate::ffi`] says.
pub(super) type Function<A> =
    unsafe extern "C" fn(*mut c_void, *mut u64, *const A, RawStream) -> Status;

/// A sort says besides whether the second buffer has the result.
pub(super) type SortFunction = unsafe extern "C" fn(
    *mut c_void,
    *mut u64,
    *const SortArguments,
    *mut bool,
    RawStream,
) -> Status;

/// Kmers, how many, k, where their canonical forms go.
pub(super) type CanonicalizeFunction<K> =
    unsafe extern "C" fn(*const K, u64, i32, *mut K, RawStream) -> Status;

/// Scratch and its bytes, values, their sums, how many values.
pub(super) type ScanFunction<V> =
    unsafe extern "C" fn(*mut c_void, *mut u64, *const V, *mut u64, u64, RawStream) -> Status;

/// An integer whose sums can be made: `u32` or `u64`.
pub trait ScanValue: Pod + sealed::Sealed {
    /// The 64-bit sums of the values before each.
    #[doc(hidden)]
    const SCAN: ScanFunction<Self>;
}

impl ScanValue for u32 {
    const SCAN: ScanFunction<u32> = ffi::mgpu_scan_exclusive_u32;
}

impl ScanValue for u64 {
    const SCAN: ScanFunction<u64> = ffi::mgpu_scan_exclusive_u64;
}

/// An integer that can be sorted: `u32`, `u64`, `u128`, or 256 bits as `[high, low]`.
pub trait SortKey: Pod + Ord + Default + sealed::Sealed {
    /// Sorts keys, or keys with their values.
    #[doc(hidden)]
    const SORT: SortFunction;
}

/// An integer that CUB's run lengths are built for here: `u32`, `u64` or `u128`.
pub trait Key: SortKey {
    /// Run lengths of equal neighbours.
    #[doc(hidden)]
    const ENCODE: Function<EncodeArguments>;

    /// The runs with some counts.
    #[doc(hidden)]
    const SELECT: Function<SelectArguments>;

    /// The canonical forms of k-mers.
    #[doc(hidden)]
    const CANONICALIZE: CanonicalizeFunction<Self>;
}

mod sealed {
    /// Only the widths that the C++ is built for.
    pub trait Sealed {}
}

macro_rules! sort_keys {
    ($($K:ty: $sort:ident;)*) => {$(
        impl sealed::Sealed for $K {}

        impl SortKey for $K {
            const SORT: SortFunction = ffi::$sort;
        }
    )*};
}

sort_keys! {
    u32: mgpu_sort_u32;
    u64: mgpu_sort_u64;
    u128: mgpu_sort_u128;
    [u128; 2]: mgpu_sort_u256;
}

macro_rules! keys {
    ($($K:ty: $encode:ident $select:ident $canonicalize:ident;)*) => {$(
        impl Key for $K {
            const ENCODE: Function<EncodeArguments> = ffi::$encode;
            const SELECT: Function<SelectArguments> = ffi::$select;
            const CANONICALIZE: CanonicalizeFunction<$K> = ffi::$canonicalize;
        }
    )*};
}

keys! {
    u32: mgpu_encode_runs_u32 mgpu_select_runs_u32 mgpu_canonicalize_kmers_u32;
    u64: mgpu_encode_runs_u64 mgpu_select_runs_u64 mgpu_canonicalize_kmers_u64;
    u128: mgpu_encode_runs_u128 mgpu_select_runs_u128 mgpu_canonicalize_kmers_u128;
}
