//! The CUDA backend: all ends of patterns in pieces of texts, as [`crate::edits`] finds them.
//!
//! The pieces of a batch are copied to one text, with letters between them that match nothing: more of these than a
//! pattern may have edits, so that no alignment crosses them. The device divides the text into lanes of equal lengths,
//! and writes a record for each end. If there is no room for all records, the launches that did not fit are repeated,
//! in halves if necessary.

mod kernels;
mod launches;
mod layout;
mod patterns;
mod scanner;
#[cfg(all(test, feature = "cuda"))]
mod tests;

#[allow(unused_imports, reason = "runs do not use devices yet")]
pub(crate) use patterns::{GpuPattern, GpuPatterns};
#[allow(unused_imports, reason = "runs do not use devices yet")]
pub(crate) use scanner::{GpuPiece, GpuScanner, PatternEnd};
