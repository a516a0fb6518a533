//! DNA as numbers: 2-bit codes of letters, packed sequences, k-mers of up to 128 bases, signatures and hashes. This
//! crate does no I/O and uses no threads and no GPU.
//!
//! Everywhere A, C, G, T are 0, 1, 2, 3, the first base is the most significant, U is read as T, lower case as upper
//! case, and any other letter splits a sequence.
#![deny(missing_docs)]

pub mod base;
pub mod hash;
pub mod kmer;
pub mod lanes;
pub mod masking;
pub mod packed;
pub mod planes;
pub mod signature;
pub mod simd;
