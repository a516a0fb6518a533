//! End-to-end tests of the built binary, on small real and simulated data, held against a naive
//! oracle and against independent tools.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod algebra;
mod alignments;
mod answers;
mod classify;
mod content;
mod cuda;
mod cuda_classify;
mod cuda_lookup;
mod cuda_map;
mod damage;
mod deplete;
mod earlier_files;
mod errors;
mod eval;
mod examples;
mod fastk;
mod file_names;
mod filter;
mod filter_cuda;
mod filter_runs;
mod help;
mod hetmers;
mod homopolymers;
mod inputs;
mod interrupt;
mod kmer_matrix;
mod kmer_reads;
mod kmers;
mod limits;
mod map;
mod matrix;
mod memory;
mod meryl;
mod metagenomes;
mod model;
mod outputs;
mod pages;
mod peers;
mod piped_files;
mod qv;
mod replaced;
mod run_files;
mod sameness;
mod shards;
mod signals;
mod stack;
mod stopping;
mod streams;
mod support;
mod terminal;
mod usage;
mod users;
