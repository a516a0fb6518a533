//! End-to-end tests of the built program. Properties that all commands share: files, memory, signals, limits.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod content;
mod damage;
mod earlier_files;
mod file_names;
mod interrupt;
mod limits;
mod memory;
mod outputs;
mod piped_files;
mod replaced;
mod run_files;
mod sameness;
mod shards;
mod signals;
mod stack;
mod stopping;
mod streams;
