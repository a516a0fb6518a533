//! End-to-end tests of the built program. Promises of all commands: files, memory, signals, limits.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
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
