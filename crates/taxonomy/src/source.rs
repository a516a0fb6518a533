//! Where a taxonomy comes from.

use std::path::{Path, PathBuf};

use crate::Error;

/// Where a taxonomy comes from: the folder of NCBI's taxdump, or tables of lineages as GTDB has them
/// (`bac120_taxonomy.tsv`, `ar53_taxonomy.tsv.gz`), which together are one taxonomy.
///
/// A path to a folder, or several paths to tables, can be given wherever one is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonomySource {
    paths: Vec<PathBuf>,
}

impl TaxonomySource {
    /// The folder, if it is NCBI's, or what else is no file.
    pub fn folder(&self) -> Option<&Path> {
        match &self.paths[..] {
            [path] if !is_table(path) => Some(path),
            _ => None,
        }
    }

    /// The tables.
    ///
    /// # Errors
    /// If one of several paths is a folder.
    pub(super) fn tables(&self) -> Result<&[PathBuf], Error> {
        match self.paths.iter().find(|path| path.is_dir()) {
            None => Ok(&self.paths),
            Some(folder) => Err(Error::content(
                folder,
                "a folder beside another `taxonomy`: give one folder of NCBI's taxdump alone, or \
                 GTDB's tables",
            )),
        }
    }

    /// The files that are read, whether or not they are there.
    pub fn files(&self) -> Vec<PathBuf> {
        match self.folder() {
            Some(folder) => dump_files(folder).into(),
            None => self.paths.clone(),
        }
    }
}

/// The files of NCBI's dump in `folder`, whether or not they are there.
pub(crate) fn dump_files(folder: &Path) -> [PathBuf; 4] {
    ["nodes.dmp", "names.dmp", "merged.dmp", "delnodes.dmp"].map(|name| folder.join(name))
}

/// Whether it can be read as a file; named pipes are files here. Of what cannot be looked up, whoever reads it as a
/// folder has the reason.
fn is_table(path: &Path) -> bool {
    merganser_io::look_up(path).is_ok_and(|there| there.is_some_and(|there| !there.is_dir()))
}

impl From<&Path> for TaxonomySource {
    fn from(path: &Path) -> TaxonomySource {
        TaxonomySource { paths: vec![path.to_owned()] }
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
