//! The two kinds of databases.

use std::path::PathBuf;

use merganser_classify::{Database, Error};
use merganser_kraken2::Kraken2Database;
use merganser_taxonomy::Taxonomy;

/// An opened database.
pub(crate) enum Opened {
    /// A database of Merganser.
    Own(Box<Database>),
    /// A folder of Kraken 2.
    Kraken2(Box<Kraken2Database>),
}

impl Opened {
    /// Opens the database at a path, or those at several paths together.
    ///
    /// # Errors
    /// If one cannot be read, or is of neither kind; if they cannot be used together.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Opened, Error> {
        match Kraken2Database::are_all(paths)? {
            true => Ok(Opened::Kraken2(Box::new(Kraken2Database::open_all(paths)?))),
            false => Ok(Opened::Own(Box::new(Database::open_all(paths)?))),
        }
    }

    /// Returns the name of the format.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Opened::Own(_) => "mgdb",
            Opened::Kraken2(_) => "kraken2",
        }
    }

    /// Returns the taxa.
    pub(crate) fn taxonomy(&self) -> &Taxonomy {
        match self {
            Opened::Own(database) => database.taxonomy(),
            Opened::Kraken2(database) => database.tree(),
        }
    }

    /// Returns the files of databases at `paths`.
    pub(super) fn files(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        match self {
            Opened::Own(_) => paths.to_vec(),
            Opened::Kraken2(_) => {
                paths.iter().flat_map(|path| Kraken2Database::files(path)).collect()
            }
        }
    }
}
