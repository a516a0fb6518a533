//! What the fuzz targets share: inputs that are made once and changed, checksums made right, and naive
//! readings to compare with.

pub mod alignments;
pub mod changes;
pub mod databases;
pub mod expressions;
pub mod fastk;
pub mod fastx;
pub mod files;
pub mod indexes;
pub mod kmc;
pub mod kmers;
pub mod kraken2;
/// Of the tests of the program.
#[path = "../../tests/support/src/mend.rs"]
pub mod mend;
pub mod meryl;
pub mod minimizers;
pub mod partial;
pub mod pieces;
pub mod tables;
