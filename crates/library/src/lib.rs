//! Libraries: folders of downloaded genomes, checked file by file, with a taxon for each genome.
//! [`Downloads::find`] finds the files, [`Library::prepare`] checks them, and the result is a [`Manifest`],
//! a table that databases are built from.
//!
//! [`References`] are the files that a database is built from, and [`TaxidSearch`] finds the taxid of each of their
//! sequences.

#![deny(missing_docs)]

mod accession;
mod check;
mod checksums;
mod config;
mod downloads;
mod error;
mod file_names;
mod journal;
mod lists;
mod manifest;
mod prepare;
mod references;
mod row;
mod selection;
mod taxids;

pub use config::{Category, Level, LibraryConfig};
pub use downloads::Downloads;
pub use error::Error;
pub use file_names::is_ncbi_gene_file;
pub use manifest::Manifest;
pub use prepare::{Library, LibraryOutcome, Passed};
pub use references::{References, expand_references};
pub use row::{Content, GenomeTaxon, Md5Sum, Row, Stamp, Status};
pub use taxids::{
    ConflictPlace, HeaderRule, LibraryMaps, MapConflict, TaxidSearch, check_maps, files_beside,
};
