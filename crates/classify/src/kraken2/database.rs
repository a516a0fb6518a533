//! A database: a folder with three files.

use std::path::{Path, PathBuf};

use super::options::Kraken2Options;
use super::table::Table;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;

/// The files of a database.
const FILES: [&str; 3] = ["opts.k2d", "taxo.k2d", "hash.k2d"];

/// A database that Kraken 2 made. Its table is mapped: processes that use it at the same time share
/// the memory that it takes.
#[derive(Debug)]
pub struct Kraken2Database {
    options: Kraken2Options,
    taxonomy: Kraken2Taxonomy,
    pub(super) table: Table,
}

impl Kraken2Database {
    /// Opens the database in `folder`: opts.k2d and taxo.k2d are read and checked, hash.k2d is mapped
    /// and its header held against its length. It has no checksum: cells are looked at as reads need
    /// them.
    ///
    /// # Errors
    /// If a file is missing, cannot be read, is damaged, or is of proteins.
    pub fn open(folder: &Path) -> Result<Kraken2Database, Error> {
        let [options, taxonomy, table] = Self::files(folder);
        let options = Kraken2Options::read(&options)?;
        let taxonomy = Kraken2Taxonomy::read(&taxonomy)?;
        let table = Table::open(&table, options.minimum_hash, taxonomy.len() as u32)?;
        Ok(Kraken2Database { options, taxonomy, table })
    }

    /// Whether `folder` has the files of such a database.
    pub fn is_one(folder: &Path) -> bool {
        Self::files(folder).iter().all(|file| file.is_file())
    }

    /// The files of a database in `folder`: options, taxonomy, table.
    pub fn files(folder: &Path) -> [PathBuf; 3] {
        FILES.map(|name| folder.join(name))
    }

    /// How its minimizers are made.
    pub fn options(&self) -> &Kraken2Options {
        &self.options
    }

    /// Its taxa.
    pub fn taxonomy(&self) -> &Kraken2Taxonomy {
        &self.taxonomy
    }
}
