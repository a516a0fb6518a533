//! Partial results: what a run over some of the reads leaves, so that the runs over all of them come to
//! what one run would have written.
//!
//! [`Outputs::partial`](crate::run::Outputs::partial) has a run write them, by databases of merganser
//! and of Kraken 2 alike: reads by taxon, and, where distinct features or minimizers are counted, these
//! themselves, since those of several runs cannot be told from their numbers. [`join()`] puts files of
//! the same database and the same parameters together: of any runs, or of all shards of one
//! ([`ReadShare`](merganser_kraken2::ReadShare)).

mod join;
mod lines;
mod own;

pub use join::{JoinedResults, join};

use own::OfOwn;
