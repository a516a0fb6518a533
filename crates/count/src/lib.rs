//! k-mer counting: reads in, a sorted table of distinct k-mers with their counts out.
//!
//! Three phases, as in the RapidGKC paper (§III-C) and KMC before it:
//! 1. *partition*: reads are cut into super-k-mers where the signature changes, and each super-k-mer goes to
//!    the bin of its signature, so that all occurrences of a k-mer are in one bin;
//! 2. *count*: the super-k-mers of each bin become distinct canonical k-mers with counts;
//! 3. *emit*: the kept k-mers are sorted over the whole table and written.
//!
//! [`run()`] is the entry point; [`run_in_memory`] is the entry point for programs that need no file.
//! Operations on tables are in `merganser-kmers`. No result depends on the number of threads or bins, the
//! storage, the memory, the device or the signature rule.
//!
//! # The path of a read
//!
//! The source files that a read passes through on the CPU, from a FASTQ file to its k-mers in the table
//! (paths below `crates`):
//!
//! 1. A file becomes chunks of text: `io/src/reader/fetch.rs` reads bytes, `io/src/reader/expand.rs`
//!    decompresses them, and `io/src/reader/join.rs` ends each chunk at the end of a record.
//! 2. `count/src/run/reading.rs` has each worker take chunks, in which `io/src/chunk.rs` and
//!    `io/src/chunk/fastq.rs` find the letters of reads.
//! 3. `count/src/fragments.rs` makes fragments of A, C, G and T, as the codes of `seq/src/base.rs`.
//! 4. `count/src/cpu/partition.rs` cuts fragments where the signature changes (`seq/src/signature/scan.rs`),
//!    packs them (`seq/src/packed.rs`), and `count/src/superkmer.rs` writes super-k-mers to the bins that
//!    `count/src/binmap.rs` names (`store/src/bins/writer.rs`).
//! 5. `count/src/cpu/counter.rs` counts the k-mers (`seq/src/kmer.rs`) of a bin in the hash map of
//!    `count/src/cpu/kmer_map.rs` (its slots: `count/src/cpu/index.rs`); `count/src/cpu/dedupe.rs` merges
//!    equal super-k-mers first.
//! 6. `count/src/results.rs` scatters the kept k-mers over ranges of k-mers (`kmers/src/scattered.rs`).
//! 7. `count/src/emit.rs` sorts the ranges, and `kmers/src/formats/mgk/block.rs` and
//!    `kmers/src/formats/mgk/writer.rs` write the table.
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod binmap;
mod config;
mod cpu;
mod cuda;
mod emit;
mod error;
mod fragments;
mod job;
mod panel;
mod plan;
mod results;
mod run;
mod stats;
#[doc(hidden)]
pub mod superkmer;

pub use config::{Config, Format, MAX_BINS, MAX_STREAMS, QualityOffset, Storage};
pub use error::Error;
pub use run::{Outcome, plan_run, run, run_histogram, run_in_memory, run_quietly, run_with};
pub use stats::{RuleStats, Score, Stats, stats};
