//! The CUDA backend (RapidGKC §III-C, §III-D): GPUs cut super-k-mers, keep them by bin, count bins and sort the
//! kept k-mers. Plain and BGZF files go to them as they are, and are inflated, parsed and packed there; the CPU reads,
//! parses and packs all others.
//!
//! Work does not wait for devices to start: batches that the CPU packs are queued meanwhile. Super-k-mers stay in
//! device memory while it has room, then go to host memory, then to disk. No result depends on where
//! they are.

mod batch;
pub(crate) mod chunks;
pub(crate) mod counting;
mod encoding;
pub(crate) mod feeding;
mod gathering;
pub(crate) mod host_bins;
pub(crate) mod host_writers;
mod ingesting;
pub(crate) mod kernels;
pub(crate) mod letter_work;
mod packer;
pub(crate) mod packing;
pub(crate) mod partition;
pub(crate) mod plan;
pub(crate) mod queue;
pub(crate) mod table;
pub(crate) mod table_kernels;

pub(crate) use kernels::GpuKmer;
