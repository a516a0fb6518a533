//! The CUDA backend: holds the index in device memory, and maps batches of reads to hits and their alignments.
//!
//! Seeds, candidates and verification stay on the device; the host receives hits and, for each, the edits of
//! its alignment. Reads that no kernel handles (longer than 1,024 bases, too short for seeds, or with more hits
//! than there is room for) are left to the host. Both backends find and count the same.

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
