//! End-to-end tests of the built program. Databases, classification and reports.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod classify;
mod classify_cuda;
mod eval;
mod metagenomes;
