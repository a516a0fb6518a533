//! Tables of taxids in the folders of the references and of the taxonomy.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use merganser_io::{Input, is_file};
use merganser_taxonomy::TaxonomySource;

use crate::Error;
use crate::file_names::MAP;

/// Parts of the names of files that are searched for in the folders of the references and of the taxonomy.
const SUMMARY: &str = "assembly_summary";
const ACCESSIONS: &str = ".accession2taxid";

/// Returns the files that a build reads although their names were not given: the files of the taxonomy,
/// and the tables in the references' folders.
pub fn files_beside(inputs: &[Input], taxonomy: Option<&TaxonomySource>) -> Vec<PathBuf> {
    // If a folder cannot be read, the build itself fails later.
    let mut files = files_next_to(inputs, is_summary).unwrap_or_default();
    files.extend(files_next_to(inputs, is_map).unwrap_or_default());
    files.extend(taxonomy.iter().flat_map(|source| source.files()));
    if let Some(folder) = taxonomy.and_then(TaxonomySource::folder) {
        files.extend(accession_maps(folder).unwrap_or_default());
    }
    files
}

/// Whether a file is Kraken 2's map of the sequences in the same folder.
pub(super) fn is_map(name: &str) -> bool {
    name == MAP
}

/// Whether a file is a list of assemblies.
pub(super) fn is_summary(name: &str) -> bool {
    name.starts_with(SUMMARY) && name.contains(".txt")
}

/// Returns the files with wanted names in the folders of the inputs, each once.
pub(super) fn files_next_to(
    inputs: &[Input],
    is_wanted: impl Fn(&str) -> bool + Copy,
) -> Result<Vec<PathBuf>, Error> {
    let mut folders: Vec<PathBuf> =
        inputs.iter().filter_map(|input| input.path()?.parent().map(Path::to_owned)).collect();
    folders.sort();
    folders.dedup();
    let found = folders.iter().map(|folder| files_in(folder, is_wanted));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns an absolute path without `..`, as it is written: links are not followed.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in std::path::absolute(path).unwrap_or_default().components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the accession2taxid files in the folder of a taxonomy.
pub(super) fn accession_maps(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    files_in(folder, |name| name.contains(ACCESSIONS))
}

/// Returns the files in a folder with wanted names, sorted; empty if there is no folder or it may not be
/// read. Other files are not looked up, as there may be a million genomes.
fn files_in(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Error> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |source| Error::File { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
            _ => return Err(failed(error)),
        },
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_there =
            || is_file(&path).map_err(|source| Error::File { path: path.clone(), source });
        if is_wanted(&name) && is_there()? {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
