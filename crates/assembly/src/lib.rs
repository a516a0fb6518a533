//! How good assemblies are, by the k-mers of reads, as Merqury judges them (Rhie, Walenz, Koren, Phillippy 2020:
//! "Merqury: reference-free quality, completeness, and phasing assessment for genome assemblies").
//!
//! k-mers of an assembly that no read has are errors: their share is a rate of wrong bases, and that a quality (QV). The
//! reads' frequent k-mers are the genome's: the share of them that the assembly has is its completeness. How often k-mers
//! of each count in the reads stand in the assembly shows what is missing and what is there too often (spectra).
//!
//! [`judge`] does all that: it counts the assemblies' k-mers, holds them against the reads', and walks along the sequences.
//! [`output::Files`] writes what Merqury writes. No result depends on the number of threads, the memory or the device.
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod blocks;
mod config;
mod doubts;
mod error;
mod hapmers;
pub mod output;
mod parentage;
mod ranges;
mod run;
mod spectra;

pub use blocks::{Block, BlockRule};
pub use config::{Assembly, Config, Parent, Reads, Subject};
pub use error::Error;
pub use hapmers::Trio;
pub use ranges::{JudgedRange, Ranges, judge_range};
pub use run::{AssemblyQuality, Outcome, Tracks, judge};
pub use spectra::{Copies, Membership, OfAssembly, Only, Spectra};
