//! The arguments of the CUB functions, with one type for all widths of keys.

use std::ffi::c_void;

crate::shared! {
    /// The arguments of a sort of keys of any width.
    #[doc(hidden)]
    pub struct SortArguments = "mgpu::sort_arguments" {
        pub(crate) first: *mut c_void,
        pub(crate) second: *mut c_void,
        /// The values of the keys; null if the keys have no values.
        pub(crate) first_values: *mut u32,
        pub(crate) second_values: *mut u32,
        pub(crate) items: u64,
        pub(crate) begin_bit: i32,
        pub(crate) end_bit: i32,
    }

    /// The input and outputs of run-length encoding.
    #[doc(hidden)]
    pub struct EncodeArguments = "mgpu::encode_arguments" {
        pub(crate) keys: *const c_void,
        pub(crate) unique: *mut c_void,
        pub(crate) counts: *mut u32,
        pub(crate) runs: *mut u64,
        pub(crate) items: u64,
    }

    /// The input, criterion and outputs of a selection.
    #[doc(hidden)]
    pub struct SelectArguments = "mgpu::select_arguments" {
        pub(crate) keys: *const c_void,
        pub(crate) counts: *const u32,
        pub(crate) keys_out: *mut c_void,
        pub(crate) counts_out: *mut u32,
        pub(crate) selected: *mut u64,
        pub(crate) runs: u64,
        pub(crate) least: u32,
        pub(crate) most: u32,
    }
}
