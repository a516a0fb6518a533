//! Reports of classified reads, and what else is made of results.
//!
//! [`report`] has reads by taxon and all forms of reports, [`bracken`] gives the reads of higher taxa to their species,
//! [`eval`] compares results with a truth, [`extract`] writes the reads of some taxa. [`output`] and [`partial`] are what
//! runs write by any database: the reads' texts, and results that can be joined.

#![deny(missing_docs)]

pub mod bracken;
mod error;
pub mod eval;
pub mod extract;
pub mod output;
pub mod partial;
pub mod report;

pub use error::Error;
