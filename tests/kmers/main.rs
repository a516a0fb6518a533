//! End-to-end tests of the built program. Counting, and everything done with tables of k-mers.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod algebra;
mod count_cuda;
mod edge_lengths;
mod fastk;
mod hetmers;
mod homopolymers;
mod kmer_matrix;
mod kmer_reads;
mod kmers;
mod lookup_cuda;
mod meryl;
mod model;
mod peers;
mod qv;
