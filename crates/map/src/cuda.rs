//! The CUDA backend: an index in device memory, batches of reads to hits with their alignments.
//!
//! Seeds, candidates and verification stay on the device; the host gets hits, and for each the edits
//! of its alignment. Reads that no kernel is made for (longer than 1,024 bases, too short for seeds,
//! with more hits than there is room for) are left to the host. What is found and counted
//! is the same.

mod batch;
mod build;
mod gpus;
mod index;
mod kernels;
mod workspace;

pub(crate) use batch::OnGpu;
pub(crate) use build::sort as sort_positions;
pub(crate) use gpus::{Gpus, check_room};
#[cfg(test)]
pub(crate) use workspace::Sizes;
pub(crate) use workspace::Workspace;
