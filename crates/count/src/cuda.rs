//! The CUDA backend (RapidGKC §III-C, §III-D): the CPU reads, parses and packs; GPUs cut
//! super-k-mers, keep them by bin, count bins and sort what stays.
//!
//! Everything that can be done before a device is ready is done meanwhile: packed batches wait in a
//! queue. Super-k-mers stay in device memory as far as it goes, then in host memory, then on
//! disk. No result depends on which.

mod batch;
pub(crate) mod chunks;
pub(crate) mod counting;
mod encoding;
mod gathering;
pub(crate) mod host_bins;
pub(crate) mod host_writers;
mod kernels;
pub(crate) mod packer;
pub(crate) mod packing;
pub(crate) mod partition;
pub(crate) mod plan;
pub(crate) mod queue;
pub(crate) mod table;
pub(crate) mod table_kernels;

pub(crate) use kernels::GpuKmer;
