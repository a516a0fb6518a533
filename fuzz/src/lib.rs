//! Shared code of the fuzz targets: inputs that are made once and then changed, correction of checksums, and naive
//! parsers to compare with.

pub mod alignments;
pub mod changes;
pub mod databases;
pub mod device;
pub mod expressions;
pub mod fastk;
pub mod fastx;
pub mod files;
pub mod indexes;
pub mod kmc;
pub mod kmers;
pub mod kraken2;
/// Correction of checksums, from the tests of the program.
#[path = "../../tests/support/src/mend.rs"]
pub mod mend;
pub mod meryl;
pub mod minimizers;
pub mod partial;
pub mod pieces;
pub mod search;
pub mod tables;
