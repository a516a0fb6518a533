//! Metagenomic classification: which taxon each read comes from, by sketches of windows, after
//! MetaCache (Müller et al., 2017; Kobus et al., 2021).
//!
//! [`build()`] makes a [`Database`] of reference genomes and a taxonomy; a [`Query`] gives reads
//! their candidates and [`Thresholds`] decide among them. A [`SharedClassifier`] does that for reads in
//! memory, [`run::classify`] or a [`run::Classifier`] for files. `naive` is the rule word by word,
//! for tests. [`bracken`] makes the distributions with which Bracken takes reads of higher taxa to their
//! species, [`partial`] joins the results of several runs.

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
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
mod output;
mod params;
pub mod partial;
mod query;
mod read_filter;
mod reads;
mod reference_hits;
pub mod run;
mod shared;
mod sketch;

pub use build::{Additions, BuildOutcome, add, build, build_in_memory};
pub use candidates::{Candidate, QueryParams};
pub use config::{BuildConfig, PartConfig, SketchConfig, TaxidConfig, VerdictConfig};
pub use cuda::{GpuNotes, GpuTimes};
pub use database::{Database, Target};
pub use decide::{Thresholds, Verdict};
pub use error::Error;
pub use hash::{FEATURE_BITS, HashRule, NO_KMER};
pub use merge::Merger;
pub use params::{FULL_DENSITY, MAX_K, MAX_LOCATIONS, MAX_SKETCH, MAX_WINDOW, Params, Preset};
pub use query::{Query, Scratch};
pub use reference_hits::ReferenceHits;
pub use shared::{Session, SharedClassifier, Taxon};
pub use sketch::Sketcher;
