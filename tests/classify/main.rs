//! End-to-end tests of the built program. Databases, classification and reports.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod bases;
mod classify;
mod classify_cuda;
mod eval;
mod metagenomes;
mod segments;
mod several;
