//! Removing a host's reads from a sample, or keeping them: by exact sets of minimizers, with the decisions of
//! Deacon 0.19 (Constantinides and others, 2025), read for read.
//!
//! [`index()`] makes the [`MinimizerSet`] of genomes; sets are united, subtracted and intersected, and kept as `.mgd`
//! files or as Deacon's own (`.idx`). A [`MinimizerLookup`] is a set that reads are held against, by [`filter()`].
//! `naive` has the rules word by word, for tests alone.

mod config;
mod error;
mod files;
mod host;
mod index;
mod letters;
mod minimizers;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
mod params;
mod run;
mod sections;
mod set;
mod thresholds;

pub use config::Config;
pub use error::Error;
pub use files::{Description, Format, describe, read, write};
pub use host::MinimizerLookup;
pub use index::index;
pub use minimizers::Minimizers;
pub use params::Params;
pub use run::{Compression, Outcome, Outputs, Sink, filter};
pub use set::MinimizerSet;
pub use thresholds::Thresholds;
