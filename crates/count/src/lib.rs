//! k-mer counting: reads in, a sorted table of distinct k-mers with their counts out.
//!
//! Three phases, as in the RapidGKC paper (§III-C) and KMC before it:
//! 1. *partition*: reads are cut into super-k-mers where the signature changes, and each goes to
//!    the bin of its signature, so that all occurrences of a k-mer meet in one bin;
//! 2. *count*: each bin's super-k-mers become distinct canonical k-mers with counts;
//! 3. *emit*: the k-mers that stay are sorted over the whole table and written.
//!
//! [`count`] is the entry point; [`Table`] reads tables back, [`tables`] those of other formats,
//! and [`algebra`] computes with them. No result depends on the number of
//! threads or bins, the storage, the memory or the signature rule.
#![deny(missing_docs)]
#![deny(unsafe_code)]

pub mod algebra;
mod binmap;
mod config;
mod cpu;
mod cuda;
mod emit;
mod error;
mod histogram;
mod kff;
mod kmc;
pub mod lookup;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
pub mod reads;
mod results;
mod run;
mod stats;
mod store;
pub mod superkmer;
mod table;
pub mod tables;
mod text;

/// What is said where a program without it meets Parquet.
#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str = "Parquet is not built into this program: build it with cargo build --release --features parquet";

pub use config::{Config, Format, MAX_BINS, MAX_STREAMS, Storage};
pub use error::Error;
pub use histogram::{Histogram, HistogramFormat};
pub use run::{Outcome, count};
pub use stats::{RuleStats, Score, Stats, stats};
pub use table::{Blocks, Header, Table};

/// The data structures of phase 2, for `merganser-bench parts` only: no stable interface.
#[doc(hidden)]
pub mod parts {
    pub use crate::cpu::{Dedupe, Key, Table, Width};
}
