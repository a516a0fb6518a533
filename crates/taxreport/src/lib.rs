//! Reports of classified reads, and other uses of the results.
//!
//! [`report`] has the reads by taxon and all formats of reports, [`bracken`] distributes the reads of higher taxa to
//! species, [`eval`] compares results with a truth, and [`extract`] writes the reads of some taxa. [`output`] and
//! [`partial`] are shared by classification with all kinds of databases: the texts of reads, and results that can be
//! joined. [`by_database`] counts the reads that each of several databases supports.

#![deny(missing_docs)]

pub mod bracken;
pub mod by_database;
mod error;
pub mod eval;
pub mod extract;
pub mod output;
pub mod partial;
pub mod report;

pub use error::Error;
