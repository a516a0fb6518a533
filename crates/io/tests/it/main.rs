//! Tests of reading and writing through the public interface, compared with naive code.

// Clippy does not count helper functions as tests.
#![allow(clippy::unwrap_used)]

mod batches;
mod cases;
mod common;
mod compressed;
mod creation;
mod errors;
mod output;
mod property;
mod records;
mod remote;
mod shards;
mod workers;

/// The formats of these tests, which read no alignments.
pub(crate) type Formats = merganser_io::SequencesOnly;
