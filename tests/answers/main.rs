//! End-to-end tests of the built program. Inputs with known answers, help, messages and documentation.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod cases;
mod dry_run;
mod errors;
mod examples;
mod habits;
mod help;
mod inputs;
mod links;
mod pages;
mod sheets;
mod table;
mod terminal;
mod usage;
mod users;
