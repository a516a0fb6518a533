//! The container of partial results: what a run over some of the reads leaves, to be joined with others.
//!
//! An [`Origin`] says of what the results are, and comes first; an [`Encoder`] writes numbers, texts and lists, and a
//! [`Decoder`] reads them back. What the numbers are is a matter of the kind of database.

mod decode;
mod encode;
mod origin;
mod shard;

pub use decode::Decoder;
pub use encode::{Ascending, Encoder};
pub use origin::{Fields, Origin, field, flag, offset_field, reads_sum};
pub use shard::{Shards, WrittenShard};

const MAGIC: [u8; 8] = merganser_store::sealed::magic(b'P');
/// The version of what whole runs leave,
const OF_RUNS: u32 = 1;
/// and of what shards of a job do, which programs that know nothing of these must not take for whole.
const OF_SHARDS: u32 = 2;
