//! What Merqury writes: the same files, columns and numbers.

mod files;
mod haplotypes;
mod number;
mod track;

pub use files::{Files, Names};
pub use haplotypes::{Contig, Phasing};
