//! Reading alignments through readers, held against naive code.

// Helpers are tests, too.
#![allow(clippy::unwrap_used)]

mod alignments;
mod pairs;

#[allow(dead_code, reason = "helpers of the tests of merganser-io, of which some do for these")]
#[path = "../../../io/tests/it/batches.rs"]
mod batches;
#[allow(dead_code, reason = "helpers of the tests of merganser-io, of which some do for these")]
#[path = "../../../io/tests/it/common.rs"]
mod common;

/// All formats are read.
pub(crate) type Formats = merganser_alignments::AllFormats;
