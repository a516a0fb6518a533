//! The stages of the CPU backend.

pub(crate) mod counter;
mod dedupe;
mod index;
mod kmer_map;
pub(crate) mod partition;
pub(crate) mod sample;
pub(crate) mod small;
mod width;
pub(crate) mod windows;

pub(crate) use kmer_map::KmerMap;
pub(crate) use width::Width;
