//! Output files with the names, columns and number formats of Merqury.

mod files;
mod haplotypes;
mod number;
mod track;

pub use files::{Files, Names, SequenceQuality};
pub use haplotypes::{Contig, Phasing};
