//! The file format of partial results: the results of a run over some of the reads, to be joined with others.
//!
//! A file begins with an [`Origin`], which identifies the database, the options and the reads. An [`Encoder`] writes
//! numbers, texts and lists, and a [`Decoder`] reads them. The further content depends on the kind of database.

mod decode;
mod encode;
mod origin;
mod shard;

pub use decode::Decoder;
pub use encode::{Ascending, Encoder};
pub use origin::{Fields, Origin, field, flag, offset_field, reads_sum};
pub use shard::{Shards, WrittenShard};

const MAGIC: [u8; 8] = merganser_store::sealed::magic(b'P');
/// The version of files with the results of whole runs, without bases: earlier versions wrote them.
const OF_RUNS: u32 = 1;
/// The version of files with the results of a shard, without bases, so that programs that do not know shards do not
/// take them for whole runs.
const OF_SHARDS: u32 = 2;
/// Added to the version of files with the bases of reads by taxon, which this program writes.
const WITH_BASES: u32 = 2;
/// Added to the version of files that also have the reads by database.
const BY_DATABASE: u32 = 2;
/// The newest version that is read.
const NEWEST: u32 = OF_SHARDS + WITH_BASES + BY_DATABASE;
