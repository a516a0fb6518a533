//! Evaluates assemblies by the k-mers of reads, as Merqury does (Rhie, Walenz, Koren, Phillippy 2020: "Merqury:
//! reference-free quality, completeness, and phasing assessment for genome assemblies").
//!
//! k-mers of an assembly that are in no read are errors: their fraction gives the rate of wrong bases, and this
//! the quality (QV). Frequent k-mers of the reads belong to the genome: the fraction of them that the assembly has
//! is its completeness. The copy-number spectra, which tell how often k-mers of each count in the reads occur
//! in the assembly, show what is missing and what is duplicated.
//!
//! [`run()`] does all of this: it counts the assemblies' k-mers, compares them with those of the reads, and
//! goes through the sequences. [`output::Files`] writes the files that Merqury writes. Results do not depend on
//! the number of threads, the memory or the device.
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod blocks;
mod config;
mod contigs;
mod doubts;
mod error;
mod family;
mod hapmers;
pub mod output;
mod parentage;
mod ranges;
mod run;
mod spectra;
mod stages;
pub mod track;

pub use blocks::{Block, BlockRule};
pub use config::{Assembly, Config, Parent, Reads, Subject};
pub use error::Error;
pub use hapmers::{HapmerSpectra, Trio};
pub use ranges::{RangeOutcome, Ranges, run_range};
pub use run::{AssemblyQuality, Outcome, Tracks, run, run_with};
pub use spectra::{Copies, Membership, OfAssembly, Only, Spectra};
