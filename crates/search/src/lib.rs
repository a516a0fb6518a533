//! Search for short patterns: every occurrence of guides, primers, barcodes and probes within a number of edits.

mod edits;
mod error;
mod letters;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
mod pattern;
mod tile;

pub use error::Error;
pub use pattern::{MAX_PATTERN, Pattern};
