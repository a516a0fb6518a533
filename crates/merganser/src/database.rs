//! Databases of both kinds: Merganser's and Kraken 2's.

use std::path::{Path, PathBuf};

use merganser_classify::{Database, Error};
use merganser_kraken2::Kraken2Database;
use merganser_taxonomy::Taxonomy;

/// An opened database.
pub(crate) enum AnyDatabase {
    /// A database of Merganser.
    Own(Database),
    /// A folder of Kraken 2.
    Kraken2(Kraken2Database),
}

impl AnyDatabase {
    /// Opens the database at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is of neither kind.
    pub(crate) fn open(path: &Path) -> Result<AnyDatabase, Error> {
        match Kraken2Database::is_one(path)? {
            true => Ok(AnyDatabase::Kraken2(Kraken2Database::open(path)?)),
            false => Database::open(path).map(AnyDatabase::Own),
        }
    }

    /// Returns the database's taxa.
    pub(crate) fn taxonomy(&self) -> &Taxonomy {
        match self {
            AnyDatabase::Own(database) => database.taxonomy(),
            AnyDatabase::Kraken2(database) => database.tree(),
        }
    }
}

/// Returns the files of the database at `path`.
///
/// # Errors
/// If the system cannot access them.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    match Kraken2Database::is_one(path)? {
        true => Ok(Kraken2Database::files(path).into()),
        false => Ok(vec![path.to_owned()]),
    }
}
