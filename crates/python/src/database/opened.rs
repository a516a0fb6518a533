//! The two kinds of databases.

use std::path::{Path, PathBuf};

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
    /// Opens the database at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is of neither kind.
    pub(super) fn open(path: &Path) -> Result<Opened, Error> {
        match Kraken2Database::is_one(path)? {
            true => Ok(Opened::Kraken2(Box::new(Kraken2Database::open(path)?))),
            false => Ok(Opened::Own(Box::new(Database::open(path)?))),
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

    /// Returns the files of a database at `path`.
    pub(super) fn files(&self, path: &Path) -> Vec<PathBuf> {
        match self {
            Opened::Own(_) => vec![path.to_owned()],
            Opened::Kraken2(_) => Kraken2Database::files(path).into(),
        }
    }
}
