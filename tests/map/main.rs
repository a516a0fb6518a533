//! End-to-end tests of the built program. Filtering, mapping and depletion.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod alignments;
mod deplete;
mod filter;
mod filter_cuda;
mod filter_runs;
mod map;
mod map_cuda;
