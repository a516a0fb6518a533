//! End-to-end tests of the built program. Filtering, mapping and depletion.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod alignments;
mod confirm;
mod deplete;
mod filter;
mod filter_cuda;
mod filter_runs;
mod kept;
mod kept_as_cram;
mod kept_by_classification;
mod kept_by_kmers;
mod kept_by_taxa;
mod kept_comments;
mod map;
mod map_cuda;
mod mapped_tags;
mod mask;
