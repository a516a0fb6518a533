//! The stages of the CPU backend.

pub(crate) mod counter;
mod dedupe;
mod index;
mod kmer_map;
pub(crate) mod partition;
pub(crate) mod sample;
pub(crate) mod small;
mod width;

pub(crate) use kmer_map::KmerMap;
pub(crate) use width::Width;

/// Returns the bytes of a worker's largest deduplication table.
pub(crate) const fn dedupe_bytes<K: Width>() -> u64 {
    dedupe::Dedupe::<K>::BYTES as u64
}
