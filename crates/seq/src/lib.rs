//! DNA as numbers: letters to 2-bit codes, packed sequences, k-mers up to 128 bases, signatures
//! and hashes. No I/O, no threads, no GPU.
//!
//! Everywhere A C G T = 0 1 2 3 with the first base most significant, U reads as T, lower case
//! as upper, and every other letter breaks a sequence.
#![deny(missing_docs)]

pub mod base;
pub mod hash;
pub mod kmer;
pub mod masking;
pub mod packed;
pub mod planes;
pub mod signature;
pub mod simd;
