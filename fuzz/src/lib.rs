//! What the fuzz targets share: naive readings to compare with, and tables of fuzzed reads.

pub mod databases;
pub mod fastx;
pub mod partial;
pub mod tables;
