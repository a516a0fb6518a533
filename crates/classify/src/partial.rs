//! Partial results: written by runs over some of the reads, so that they can be joined to the results of one run
//! over all reads.
//!
//! A run writes them with [`Outputs::partial`](crate::run::Outputs::partial), for merganser databases and Kraken 2
//! databases. They hold the reads by taxon and, if distinct features or minimizers are counted, these themselves,
//! as distinct counts cannot be added. [`join()`] combines files of the same database and the same parameters: of
//! any runs, or of all shards of one run ([`ReadShare`](merganser_kraken2::ReadShare)).

mod join;
mod lines;
mod own;

pub use join::{JoinedResults, join, read_report};

use own::OfOwn;
