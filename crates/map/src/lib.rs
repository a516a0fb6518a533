//! All-mapping of short reads: finds every place of a reference where a read aligns within an edit threshold,
//! and writes the hits as SAM, BAM or CRAM.
//!
//! A read is cut into more seeds than a hit may have edits, so that at least one seed is free of edits in every
//! hit. An [`Index`] of the reference's k-mers turns seeds into candidates, and each candidate is accepted or
//! rejected by its exact number of edits; vector lanes verify many candidates at once. [`build`] makes an
//! index, [`run()`] maps files, and [`run_in_memory`] maps reads in memory. The module `naive`, compiled only for
//! tests, is the literal definition of a hit.
//!
//! # The path of a read
//!
//! The source files, below `crates`, that handle a single read on the CPU, from a FASTQ file to its SAM record:
//!
//! 1. A file becomes chunks of text: `io/src/reader/fetch.rs` reads bytes, `io/src/reader/expand.rs`
//!    decompresses them, and `io/src/reader/join.rs` ends each chunk at the end of a record.
//! 2. `io/src/chunk.rs` and `io/src/chunk/fastq.rs` find the records in a chunk, `io/src/records/text.rs` and
//!    `io/src/records/cut.rs` group them into batches (`io/src/records/batch.rs`), and `io/src/records.rs`
//!    hands these out.
//! 3. `map/src/run/worker.rs` takes a batch through all stages below; `map/src/queries.rs` encodes its reads on
//!    both strands.
//! 4. `map/src/cpu/mapper.rs` finds hits: `map/src/cpu/seeds.rs` chooses seeds, `map/src/index.rs` looks up
//!    their positions, `map/src/cpu/candidates.rs` merges candidates into windows of the reference,
//!    `map/src/cpu/verify.rs` and `map/src/cpu/verify/lanes.rs` count edits, and `map/src/cpu/silencer.rs`
//!    keeps one hit among overlapping ones.
//! 5. `map/src/output/report.rs` selects the hits to report, in the order defined in `map/src/hits.rs`;
//!    `map/src/trace.rs` computes their CIGARs.
//! 6. `alignments/src/record.rs` and `alignments/src/record/sam.rs` write the records.

mod config;
mod cpu;
mod cuda;
mod discordance;
mod effort;
mod error;
mod groups;
mod hits;
mod index;
mod insert_sizes;
mod join;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
#[cfg(test)]
mod naive_tests;
mod nearest;
mod orientation;
mod output;
mod pairs;
mod parts;
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

pub use config::{Config, MAX_READ, Prefilter, Select};
pub use effort::{DeviceTimes, Effort, ThreadTimes};
pub use error::Error;
pub use index::{Index, LONGEST, SHORTEST, fasta_of_index};
pub use insert_sizes::InsertSizes;
pub use join::JoinedShards;
pub use merganser_alignments::{Contig, Format, IndexKind, Operation, ReadGroup};
pub use merganser_filter::{NMode, Strand};
pub use nearest::{NearestRule, NearestSearch, Place};
pub use orientation::Orientation;
pub use output::{OutputPaths, Outputs, Placements, Reported};
pub use reads::{ReadHit, run_in_memory};
pub use reference::Topology;
pub use run::{
    BuildOutcome, BuildPlan, Outcome, build, build_in_memory, build_with, plan_build, plan_run,
    run, run_with,
};
pub use share::share;
