//! The kinds of keys, each with its own functions, and what these take.

use crate::ffi::{self, RawStream, Status};
use crate::memory::Pod;
use std::ffi::c_void;

crate::shared! {
    /// What a sort works on, whatever the width of its keys.
    #[doc(hidden)]
    pub struct SortArguments = "mgpu::sort_arguments" {
        pub(super) first: *mut c_void,
        pub(super) second: *mut c_void,
        /// Null if the keys have no values.
        pub(super) first_values: *mut u32,
        pub(super) second_values: *mut u32,
        pub(super) items: u64,
        pub(super) begin_bit: i32,
        pub(super) end_bit: i32,
    }

    /// What run lengths are made of, and where they go.
    #[doc(hidden)]
    pub struct EncodeArguments = "mgpu::encode_arguments" {
        pub(super) keys: *const c_void,
        pub(super) unique: *mut c_void,
        pub(super) counts: *mut u32,
        pub(super) runs: *mut u64,
        pub(super) items: u64,
    }

    /// What is selected from, what of it, and where it goes.
    #[doc(hidden)]
    pub struct SelectArguments = "mgpu::select_arguments" {
        pub(super) keys: *const c_void,
        pub(super) counts: *const u32,
        pub(super) keys_out: *mut c_void,
        pub(super) counts_out: *mut u32,
        pub(super) selected: *mut u64,
        pub(super) runs: u64,
        pub(super) least: u32,
        pub(super) most: u32,
    }
}

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
