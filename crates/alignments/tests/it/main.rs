//! Compares the reading of alignments with naive code.

// Helpers are tests as well.
#![allow(clippy::unwrap_used)]

mod alignments;
mod kept;
mod pairs;

#[allow(dead_code, reason = "test helpers of merganser-io, not all of which are used here")]
#[path = "../../../io/tests/it/batches.rs"]
mod batches;
#[allow(dead_code, reason = "test helpers of merganser-io, not all of which are used here")]
#[path = "../../../io/tests/it/common.rs"]
mod common;

/// The formats to read: all.
pub(crate) type Formats = merganser_alignments::AllFormats;
