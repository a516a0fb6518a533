//! A safe interface to CUDA: devices, streams, events, device and pinned memory, errors, and the
//! device-wide primitives (radix sort, scan, run lengths, selection) that the jobs build on.
//!
//! The whole interface exists without the feature `cuda`, too: then no device can be opened, and the reason
//! is "not built in". Programs call [`availability()`] first, which never fails and starts only the
//! driver, and then open devices with [`Device::open_all`].
//!
//! ```no_run
//! use merganser_gpu::{Device, primitives};
//!
//! let device = Device::open(0)?;
//! let stream = device.stream()?;
//! let (mut keys, mut room) = (device.alloc::<u64>(3)?, device.alloc::<u64>(3)?);
//! stream.upload_now(&[7, 1, 5], keys.view_mut())?;
//! let mut scratch = device.alloc::<u8>(primitives::sort_keys_scratch::<u64>(&device, 3, 0..64)?)?;
//! let place = primitives::sort_keys(
//!     &stream, [keys.view_mut(), room.view_mut()], 0..64, scratch.view_mut(),
//! )?;
//! let sorted = stream.download_vec([keys.view(), room.view()][place])?;
//! assert_eq!(sorted, [1, 5, 7]);
//! # Ok::<(), merganser_gpu::Error>(())
//! ```
//!
//! # Ordering of work
//!
//! Work is enqueued on a [`Stream`] and done later, in order; the work of two streams is unordered
//! unless an [`Event`] orders it. Borrows ensure exclusive access when work is enqueued. Pending work cannot
//! corrupt host memory: a [`PinnedBuffer`] waits for its copies before its memory is read,
//! written or freed, and freeing device memory waits for the device. Two streams that use one
//! device buffer without an event between them have a data race on the device.

#![deny(missing_docs)]

mod availability;
mod build_info;
mod config;
mod device;
mod diagnostics;
mod error;
mod event;
#[doc(hidden)]
pub mod ffi;
pub mod ingest;
#[doc(hidden)]
pub mod layout;
mod memory;
mod pool;
pub mod primitives;
mod selftest;
mod stream;
mod upload;

pub use availability::{
    Availability, CudaVersion, DeviceInfo, DriverVersion, availability, first_call,
};
pub use build_info::{BuildInfo, build_info};
pub use config::GpuConfig;
pub use device::{Device, Memory, ready_at, start_time};
pub use diagnostics::{DeviceReport, Report, diagnose};
pub use error::{Error, unavailable, usable};
pub use event::Event;
pub use ffi::{RawStream, Status};
pub use memory::{
    Arena, ArenaBuffer, DeviceBuffer, DeviceSlice, DeviceSliceMut, PinnedBuffer, Pod,
};
pub use pool::{BufferPool, Pooled};
pub use stream::Stream;
pub use upload::{Target, Upload, Uploaded, read_memory};

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;
