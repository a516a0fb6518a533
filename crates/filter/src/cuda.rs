//! The CUDA backend. Batches are copied to the device unchanged, each thread decides one pair, and decisions
//! are returned as bytes if the threshold allows it.
//!
//! Pairs that no kernel supports (bands of more than 512 diagonals, sequences of more than 2^30 bases) are
//! decided on the CPU while the device computes, so every batch can be given to a device.

mod kernels;
pub mod measure;
mod plan;
mod program;
mod reference;
mod workspace;

pub use reference::GpuReference;
pub use workspace::GpuFilter;
