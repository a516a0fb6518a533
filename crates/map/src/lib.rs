//! All-mapping of short reads: every place of a reference where a read lies with at most so many
//! edits, as SAM, BAM or CRAM.
//!
//! An [`Index`] of a reference's k-mers gives candidates by seeds of which at least one is free of
//! edits in every hit; candidates are rejected or accepted by their exact number of edits, many at
//! once. [`build`] makes an index, [`run()`] maps files, and [`map_reads`] reads in memory. `naive`
//! is the definition of a hit word by word, for tests alone.
//!
//! # The way of a read
//!
//! The files that a single read passes on the CPU, from a FASTQ file to its record in SAM, below `crates`:
//!
//! 1. A file becomes chunks of text: `io/src/reader/fetch.rs` reads bytes, `io/src/reader/expand.rs` decompresses them, and
//!    `io/src/reader/join.rs` ends each chunk at the end of a record.
//! 2. `io/src/chunk.rs` and `io/src/chunk/fastq.rs` find records in a chunk, `io/src/records/text.rs` and
//!    `io/src/records/cut.rs` make batches of them (`io/src/records/batch.rs`), and `io/src/records.rs` hands these out.
//! 3. `map/src/run/worker.rs` takes a batch through all that follows; `map/src/queries.rs` encodes its reads, on both strands.
//! 4. `map/src/cpu/mapper.rs` finds hits: `map/src/cpu/seeds.rs` chooses seeds, `map/src/index.rs` has their places,
//!    `map/src/cpu/candidates.rs` makes windows of the reference of them, `map/src/cpu/verify.rs` and
//!    `map/src/cpu/verify/lanes.rs` count edits, and `map/src/cpu/silencer.rs` keeps one hit a place.
//! 5. `map/src/output/report.rs` chooses the hits that have records, in the order of `map/src/hits.rs`; `map/src/trace.rs` makes
//!    their CIGARs.
//! 6. `alignments/src/record.rs` and `alignments/src/record/sam.rs` write records.

mod config;
mod cpu;
mod cuda;
mod discordance;
mod effort;
mod error;
mod hits;
mod index;
mod join;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
#[cfg(test)]
mod naive_tests;
mod output;
mod pairs;
mod prefilter;
mod queries;
mod reads;
mod reference;
mod rescue;
mod room;
mod run;
mod search;
mod share;
mod source;
mod trace;

pub use config::{Config, MAX_READ, Prefilter, Select, Strand};
pub use effort::{DeviceTimes, Effort, ThreadTimes};
pub use error::Error;
pub use index::{Index, LONGEST, SHORTEST};
pub use join::JoinedShards;
pub use merganser_alignments::{Contig, Format, IndexKind, Operation, ReadGroup};
pub use merganser_filter::NMode;
pub use output::{Outputs, Placements, Reported};
pub use reads::{ReadHit, map_reads};
pub use run::{BuildOutcome, Outcome, build, run};
pub use share::share;
