//! The files of a taxonomy.

use std::path::{Path, PathBuf};

use crate::Error;

/// The source of a taxonomy: the folder of NCBI's taxdump, or GTDB's tables of lineages
/// (`bac120_taxonomy.tsv`, `ar53_taxonomy.tsv.gz`), which are read as one taxonomy.
///
/// Converts from the path of a folder or a table, and from several paths of tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonomySource {
    paths: Vec<PathBuf>,
}

impl TaxonomySource {
    /// Returns the folder of NCBI's taxdump: the only path, unless it is a file.
    pub fn folder(&self) -> Option<&Path> {
        match &self.paths[..] {
            [path] if !is_table(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the paths of the tables.
    ///
    /// # Errors
    /// If one of several paths is a folder.
    pub(super) fn tables(&self) -> Result<&[PathBuf], Error> {
        match self.paths.iter().find(|path| path.is_dir()) {
            None => Ok(&self.paths),
            Some(folder) => Err(Error::content(
                folder,
                "a folder cannot be combined with another `taxonomy`: give the folder of NCBI's taxdump \
                 alone, or only GTDB's tables",
            )),
        }
    }

    /// Returns the files that are read, whether or not they exist.
    pub fn files(&self) -> Vec<PathBuf> {
        match self.folder() {
            Some(folder) => dump_files(folder).into(),
            None => self.paths.clone(),
        }
    }
}

/// Returns the files of NCBI's dump in `folder`, whether or not they exist.
pub(crate) fn dump_files(folder: &Path) -> [PathBuf; 4] {
    ["nodes.dmp", "names.dmp", "merged.dmp", "delnodes.dmp"].map(|name| folder.join(name))
}

/// Whether the path can be read as a file; a named pipe counts as one. A path that cannot be looked up is taken
/// for a folder: reading that reports the reason.
fn is_table(path: &Path) -> bool {
    merganser_io::look_up(path).is_ok_and(|there| there.is_some_and(|there| !there.is_dir()))
}

impl From<&Path> for TaxonomySource {
    fn from(path: &Path) -> TaxonomySource {
        TaxonomySource { paths: vec![path.to_owned()] }
    }
}

impl From<&str> for TaxonomySource {
    fn from(path: &str) -> TaxonomySource {
        Path::new(path).into()
    }
}

impl From<&String> for TaxonomySource {
    fn from(path: &String) -> TaxonomySource {
        Path::new(path).into()
    }
}

impl From<&PathBuf> for TaxonomySource {
    fn from(path: &PathBuf) -> TaxonomySource {
        path.as_path().into()
    }
}

impl From<PathBuf> for TaxonomySource {
    fn from(path: PathBuf) -> TaxonomySource {
        TaxonomySource { paths: vec![path] }
    }
}

impl From<&[PathBuf]> for TaxonomySource {
    fn from(paths: &[PathBuf]) -> TaxonomySource {
        TaxonomySource { paths: paths.to_owned() }
    }
}

impl From<&TaxonomySource> for TaxonomySource {
    fn from(source: &TaxonomySource) -> TaxonomySource {
        source.clone()
    }
}
