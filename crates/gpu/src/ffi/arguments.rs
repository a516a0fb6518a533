//! What CUB's functions take, with one type for all widths of keys.

use std::ffi::c_void;

crate::shared! {
    /// What a sort works on, whatever the width of its keys.
    #[doc(hidden)]
    pub struct SortArguments = "mgpu::sort_arguments" {
        pub(crate) first: *mut c_void,
        pub(crate) second: *mut c_void,
        /// Null if the keys have no values.
        pub(crate) first_values: *mut u32,
        pub(crate) second_values: *mut u32,
        pub(crate) items: u64,
        pub(crate) begin_bit: i32,
        pub(crate) end_bit: i32,
    }

    /// What run lengths are made of, and where they go.
    #[doc(hidden)]
    pub struct EncodeArguments = "mgpu::encode_arguments" {
        pub(crate) keys: *const c_void,
        pub(crate) unique: *mut c_void,
        pub(crate) counts: *mut u32,
        pub(crate) runs: *mut u64,
        pub(crate) items: u64,
    }

    /// What is selected from, what of it, and where it goes.
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
