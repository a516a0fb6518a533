//! Reading and writing through the public face, held against naive code.

// Helpers are tests, too.
#![allow(clippy::unwrap_used)]

mod batches;
mod cases;
mod common;
mod compressed;
mod errors;
mod output;
mod property;
mod records;
mod shards;
mod workers;

/// Nothing here reads alignments.
pub(crate) type Formats = merganser_io::SequencesOnly;
