//! Libraries: folders of genomes as they were downloaded, checked file by file, with a taxon for each
//! genome. [`Downloads::find`] looks what is there, [`Library::prepare`] checks it, and a [`Manifest`]
//! is what comes of it: a table that databases are built of.

mod accession;
mod check;
mod checksums;
mod config;
mod downloads;
mod journal;
mod lists;
mod manifest;
mod prepare;
mod row;
mod selection;

pub use config::{Category, Level, LibraryConfig};
pub use downloads::Downloads;
pub use manifest::Manifest;
pub use prepare::{Library, LibraryOutcome, Passed};
pub use row::{Content, GenomeTaxon, Md5Sum, Row, Stamp, Status};
