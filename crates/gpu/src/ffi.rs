//! The functions that `cuda/*.cu` export; there are no other foreign functions here. Types and conventions are
//! those of `cuda/status.cuh`.
//!
//! # Safety of all functions
//!
//! - Pointers to results are valid for a write; other pointers point to the numbers of items that
//!   the other arguments state, in memory that the stream's device can access, until the stream has done the work.
//! - The handle of a stream or event comes from its `create` function and was not destroyed.
//! - The current device is the stream's.
#![allow(unsafe_code, reason = "declares foreign functions")]

mod arguments;
mod declare;

pub use arguments::{EncodeArguments, SelectArguments, SortArguments};
use std::ffi::{c_char, c_void};

/// 0, or the number of a `cudaError_t`; see also [`NOT_BUILT_IN`].
pub type Status = i32;

/// A `cudaStream_t`.
pub type RawStream = *mut c_void;

/// A `cudaEvent_t`.
pub type RawEvent = *mut c_void;

/// The status that every function returns in a build without the feature `cuda`; CUDA does not use this number.
pub const NOT_BUILT_IN: Status = -1;

/// `cudaErrorMemoryAllocation`.
pub(crate) const OUT_OF_MEMORY: Status = 2;
/// `cudaErrorInsufficientDriver`; CUDA also returns it if there is no driver.
pub(crate) const INSUFFICIENT_DRIVER: Status = 35;
/// `cudaErrorNoDevice`.
pub(crate) const NO_DEVICE: Status = 100;

crate::shared! {
    /// The properties that the runtime reports for a device.
    pub struct DeviceProperties = "mgpu_device_properties" {
        pub(crate) name: [u8; 256],
        pub(crate) total_memory: u64,
        pub(crate) major: i32,
        pub(crate) minor: i32,
        pub(crate) multiprocessors: i32,
        pub(crate) pci_domain: i32,
        pub(crate) pci_bus: i32,
        pub(crate) pci_device: i32,
    }
}

crate::foreign! {
    fn mgpu_runtime_version(version: *mut i32);
    fn mgpu_driver_version(version: *mut i32);
    fn mgpu_describe_status(status: Status, name: *mut *const c_char, text: *mut *const c_char);
    fn mgpu_device_count(count: *mut i32);
    fn mgpu_describe_device(device: i32, out: *mut DeviceProperties);
    fn mgpu_set_device(device: i32);
    fn mgpu_start_device();
    fn mgpu_reach_device(device: i32, other: i32, reached: *mut i32);
    fn mgpu_synchronize_device();
    fn mgpu_memory_info(free_bytes: *mut u64, total_bytes: *mut u64);
    fn mgpu_allocate(bytes: u64, out: *mut *mut c_void);
    fn mgpu_free(memory: *mut c_void);
    fn mgpu_allocate_pinned(bytes: u64, out: *mut *mut c_void);
    fn mgpu_free_pinned(memory: *mut c_void);

    fn mgpu_create_stream(out: *mut RawStream);
    fn mgpu_destroy_stream(stream: RawStream);
    fn mgpu_synchronize_stream(stream: RawStream);
    fn mgpu_stream_wait(event: RawEvent, stream: RawStream);
    fn mgpu_create_event(timing: bool, out: *mut RawEvent);
    fn mgpu_destroy_event(event: RawEvent);
    fn mgpu_record_event(event: RawEvent, stream: RawStream);
    fn mgpu_synchronize_event(event: RawEvent);
    fn mgpu_query_event(event: RawEvent, done: *mut bool);
    fn mgpu_elapsed_milliseconds(from: RawEvent, to: RawEvent, milliseconds: *mut f32);
    fn mgpu_copy(to: *mut c_void, from: *const c_void, bytes: u64, stream: RawStream);
    fn mgpu_fill(memory: *mut c_void, byte: u8, bytes: u64, stream: RawStream);

    fn mgpu_item_limits(items: *mut u64, runs: *mut u64);
    fn mgpu_sort(
        key_bytes: u32, scratch: *mut c_void, scratch_bytes: *mut u64,
        arguments: *const SortArguments, in_second: *mut bool, stream: RawStream,
    );
    fn mgpu_encode_runs(
        key_bytes: u32, scratch: *mut c_void, scratch_bytes: *mut u64,
        arguments: *const EncodeArguments, stream: RawStream,
    );
    fn mgpu_select_runs(
        key_bytes: u32, scratch: *mut c_void, scratch_bytes: *mut u64,
        arguments: *const SelectArguments, stream: RawStream,
    );
    fn mgpu_scan_exclusive(
        value_bytes: u32, scratch: *mut c_void, scratch_bytes: *mut u64, values: *const c_void,
        sums: *mut u64, items: u64, stream: RawStream,
    );
    fn mgpu_canonicalize_kmers(
        key_bytes: u32, kmers: *const c_void, items: u64, k: i32, out: *mut c_void,
        stream: RawStream,
    );
    fn mgpu_norm_pmers(
        rule: u32, pmers: *const u32, items: u64, p: i32, canonical: bool, out: *mut u32,
        stream: RawStream,
    );
}
