//! Reading and writing through the public face, held against naive code.

// Helpers are tests, too.
#![allow(clippy::unwrap_used)]

mod alignments;
mod cases;
mod common;
mod compressed;
mod errors;
mod output;
mod property;
mod records;
mod shards;
mod workers;
