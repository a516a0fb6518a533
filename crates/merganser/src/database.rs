//! Databases of either kind: ours and Kraken 2's.

use std::path::{Path, PathBuf};

use merganser_classify::{Database, Error};
use merganser_kraken2::Kraken2Database;
use merganser_taxonomy::Taxonomy;

/// An opened database.
pub(crate) enum AnyDatabase {
    /// Ours.
    Own(Database),
    /// A folder that Kraken 2 made.
    Kraken2(Kraken2Database),
}

impl AnyDatabase {
    /// Opens what is there.
    ///
    /// # Errors
    /// If it cannot be read, or is neither.
    pub(crate) fn open(path: &Path) -> Result<AnyDatabase, Error> {
        match Kraken2Database::is_one(path)? {
            true => Ok(AnyDatabase::Kraken2(Kraken2Database::open(path)?)),
            false => Database::open(path).map(AnyDatabase::Own),
        }
    }

    /// Its taxa.
    pub(crate) fn taxonomy(&self) -> &Taxonomy {
        match self {
            AnyDatabase::Own(database) => database.taxonomy(),
            AnyDatabase::Kraken2(database) => database.tree(),
        }
    }
}

/// The files that are read of what is at `path`.
///
/// # Errors
/// If the system cannot tell what that is.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    match Kraken2Database::is_one(path)? {
        true => Ok(Kraken2Database::files(path).into()),
        false => Ok(vec![path.to_owned()]),
    }
}
