//! The CUDA backend: batches go to a device as they are, a thread decides a pair, and decisions come
//! back as a byte each where the threshold allows it.
//!
//! What no kernel is made for (bands of more than 512 diagonals, sequences of 2^30 bases) is decided by
//! the CPU while the device is at work, so that every batch can be given to a device.

mod kernels;
pub mod measure;
mod plan;
mod program;
mod reference;
mod workspace;

pub use reference::GpuReference;
pub use workspace::GpuFilter;
