//! End-to-end tests of the built program. Inputs whose right answer is known, and help, messages and documentation.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod cases;
mod errors;
mod examples;
mod help;
mod inputs;
mod links;
mod pages;
mod table;
mod terminal;
mod usage;
mod users;
