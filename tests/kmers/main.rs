//! End-to-end tests of the built program. Counting, and all work with tables of k-mers.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod algebra;
mod anywhere;
mod count_cuda;
mod edge_lengths;
mod fastk;
mod hetmers;
mod homopolymers;
mod jellyfish;
mod kff_for_others;
mod kmer_matrix;
mod kmer_reads;
mod kmers;
mod lookup_cuda;
mod meryl;
mod model;
mod panel;
mod peers;
mod qv;
mod track;
