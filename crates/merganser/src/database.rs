//! Databases of both kinds: Merganser's and Kraken 2's.

use std::path::{Path, PathBuf};

use merganser_classify::{Database, Error};
use merganser_io::FileKind;
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

    /// Opens databases that are used together.
    ///
    /// # Errors
    /// If one cannot be read, or they cannot be used together.
    pub(crate) fn open_all(paths: &[PathBuf]) -> Result<AnyDatabase, Error> {
        Ok(match Kraken2Database::are_all(paths)? {
            true => AnyDatabase::Kraken2(Kraken2Database::open_all(paths)?),
            false => AnyDatabase::Own(Database::open_all(paths)?),
        })
    }

    /// Returns the database's taxa.
    pub(crate) fn taxonomy(&self) -> &Taxonomy {
        match self {
            AnyDatabase::Own(database) => database.taxonomy(),
            AnyDatabase::Kraken2(database) => database.tree(),
        }
    }
}

/// Whether there is a database at `path`, by its content.
///
/// # Errors
/// If the system cannot access it.
pub(crate) fn is_one(path: &Path) -> Result<bool, Error> {
    let is_own = FileKind::of_path(path) == Some(FileKind::Database);
    Ok(is_own || Kraken2Database::is_one(path)?)
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
