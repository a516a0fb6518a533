//! Partial results: what a run over some of the reads leaves, so that the runs over all of them come to
//! what one run would have written.
//!
//! [`Outputs::partial`](crate::run::Outputs::partial) has a run write them, by databases of merganser
//! and of Kraken 2 alike: reads by taxon, and, where distinct features or minimizers are counted, these
//! themselves, since those of several runs cannot be told from their numbers. [`join()`] puts files of
//! the same database and the same parameters together: of any runs, or of all shards of one
//! ([`ReadShare`](crate::ReadShare)).

mod decode;
mod encode;
mod join;
mod kraken2;
mod lines;
mod origin;
mod own;
mod shard;

pub(crate) use decode::Decoder;
pub(crate) use encode::{Ascending, Encoder};
pub use join::{JoinedResults, join};
pub(crate) use kraken2::write_kraken2;
pub(crate) use origin::reads_sum;
pub(crate) use own::{check_own, write_own};
pub(crate) use shard::WrittenShard;

use kraken2::OfKraken2;
use own::OfOwn;

const MAGIC: [u8; 8] = merganser_store::sealed::magic(b'P');
/// The version of what whole runs leave,
const OF_RUNS: u32 = 1;
/// and of what shards of a job do, which programs that know nothing of these must not take for whole.
const OF_SHARDS: u32 = 2;
