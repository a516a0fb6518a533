//! End-to-end tests of the built program: `search`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod barcodes;
mod formats;
mod guides;
mod hostile;
mod indexes;
mod judged;
mod patterns;
mod primers;
mod search_cuda;
