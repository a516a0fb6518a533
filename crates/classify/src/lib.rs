//! Metagenomic classification: finds the taxon that each read comes from by sketches of windows, after MetaCache
//! (Müller et al., 2017; Kobus et al., 2021).
//!
//! [`build()`] builds a [`Database`] from reference genomes and a taxonomy. A [`Query`] finds the candidates of
//! reads and [`Thresholds`] decide among them. A [`SharedClassifier`] does both for reads in memory,
//! [`run()`] or a [`Classifier`] for files. [`bracken`] computes the distributions by which Bracken
//! assigns reads of higher taxa to species, and [`partial`] joins the results of several runs. `naive` is a literal
//! implementation of the rules, used as the oracle of the tests.
//!
//! # The path of a read
//!
//! The files that a read passes through on the CPU, from a FASTQ file to its output line (paths below `crates`):
//!
//! 1. A file becomes chunks of text: `io/src/reader/fetch.rs` reads bytes, `io/src/reader/expand.rs` decompresses
//!    them, and `io/src/reader/join.rs` ends each chunk at the end of a record.
//! 2. `io/src/chunk.rs` and `io/src/chunk/fastq.rs` find the records of a chunk, `io/src/records/text.rs` and
//!    `io/src/records/cut.rs` assemble them into batches (`io/src/records/batch.rs`), and `io/src/records.rs` hands
//!    these out.
//! 3. `classify/src/run/work.rs` takes a batch through all further steps; `classify/src/read_filter.rs` filters mates
//!    and masks bases of low quality.
//! 4. `classify/src/cpu/query.rs` finds candidates: `classify/src/sketch.rs` computes features with the hashes of
//!    `classify/src/hash.rs`, `classify/src/cpu/query/lookup.rs` looks them up, and `classify/src/cpu/query/hits.rs`
//!    counts hits by window; the best windows become candidates (`classify/src/candidates.rs`).
//! 5. `classify/src/run/passes.rs` decides with `classify/src/decide.rs`, on the tree of `taxonomy/src/lca.rs`.
//! 6. `classify/src/output/lines.rs` formats the line; its first columns come from `taxreport/src/output/line.rs`.

#![deny(missing_docs)]

pub mod bracken;
mod build;
mod candidates;
mod config;
mod cpu;
mod cuda;
pub mod database;
mod decide;
mod entries;
mod error;
mod features;
mod hash;
mod merge;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with integration tests")]
mod naive;
mod output;
mod params;
pub mod partial;
mod query;
mod read_filter;
mod reads;
mod reference_hits;
mod run;
mod shared;
mod sketch;

pub use build::{
    Additions, BuildOutcome, add, add_with, build, build_in_memory, build_with, plan_build,
};
pub use candidates::{Candidate, QueryParams};
pub use config::{BuildConfig, PartConfig, SketchConfig, TaxidConfig, VerdictConfig};
pub use cuda::{GpuNotes, GpuTimes};
pub use database::{Database, Target, TargetSum, TargetSums};
pub use decide::{Thresholds, Verdict};
pub use error::Error;
pub use hash::{FEATURE_BITS, HashRule, NO_KMER};
pub use merge::{MergedCounts, Merger};
pub use params::{FULL_DENSITY, MAX_K, MAX_LOCATIONS, MAX_SKETCH, MAX_WINDOW, Params, Preset};
pub use query::{Query, Scratch};
pub use reference_hits::ReferenceHits;
pub use run::{
    Classifier, Columns, Devices, LineFormat, Outcome, OutputPaths, Outputs, ReadOutput, RunConfig,
    run, run_with,
};
pub use shared::{ReadLetters, Session, SharedClassifier, Taxon};
pub use sketch::Sketcher;
