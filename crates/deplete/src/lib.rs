//! Removal of a host's reads from a sample with exact sets of minimizers. The decisions are those of Deacon 0.19
//! (Constantinides and others, 2025), read for read.
//!
//! [`build`] makes the [`MinimizerSet`] of genomes. Sets support union, difference and intersection, and are stored
//! as `.mgd` files or in Deacon's format (`.idx`). A [`MinimizerLookup`] is a set in the form in which [`run()`]
//! queries it. The module `naive` implements the definitions literally, for tests.

mod complexity;
mod config;
mod error;
mod files;
mod haplotypes;
mod host;
mod index;
mod letters;
mod lookup;
mod minimizers;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
mod params;
mod run;
mod sections;
mod set;
mod sorted;
mod thresholds;
mod word;

pub use config::{Config, Mask};
pub use error::Error;
pub use files::{Description, Format, describe, read, write};
pub use haplotypes::{Confirmed, Haplotypes};
pub use index::{build, plan_build};
pub use lookup::MinimizerLookup;
pub use minimizers::Minimizers;
pub use params::Params;
pub use run::{
    Compression, Host, Outcome, OutputPaths, Outputs, ReadFormat, Sink, mate_paths, plan_run, run,
    run_in, run_with,
};
pub use set::MinimizerSet;
pub use thresholds::Thresholds;
pub use word::Word;
