//! Which files references are read from.

use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, is_file};

use crate::file_names::{GENOMES, MAP, is_genome, is_sequence_file, walk};
use crate::{Error, Manifest};

/// The files that arguments stand for, and the manifests among these, which know the taxa of theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The files of sequences, in the order in which they are numbered.
    pub inputs: Vec<Input>,
    /// The manifests of libraries that were given: maps of their files' taxa, to be among
    /// the `map` of a build.
    pub manifests: Vec<PathBuf>,
    /// Maps of taxids (`seqid2taxid.map`) that folders have which were given, to be
    /// the `maps_beside` of a build.
    pub maps: Vec<PathBuf>,
    /// Files of sequences in folders that are no genomes by their names: genes and reads. They are left out.
    pub others: Vec<PathBuf>,
}

impl References {
    /// Turns arguments into reference files: folders stand for all genomes in them and the folders
    /// below, in the order of their names, which are those of [`Downloads::find`](crate::Downloads::find); a [manifest](Manifest) for its genomes, in its order;
    /// `@list` and single files as everywhere.
    ///
    /// # Errors
    /// If a folder cannot be read or has no such file, or a list cannot be read; as
    /// [`Manifest::genomes`].
    pub fn expand(args: &[PathBuf]) -> Result<References, Error> {
        let mut found = References::default();
        for input in merganser_io::expand_inputs(args)? {
            match &input {
                Input::File(path) if path.is_dir() => found.add_folder(path)?,
                Input::File(path) if is_manifest(path) => {
                    let genomes = Manifest::read(path)?.genomes()?;
                    found.inputs.extend(genomes.into_iter().map(Input::File));
                    found.manifests.push(path.clone());
                }
                _ => found.inputs.push(input),
            }
        }
        Ok(found)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), Error> {
        let (before, others) = (self.inputs.len(), self.others.len());
        walk(folder, &mut |path| {
            if is_genome(&path) {
                self.inputs.push(Input::File(path));
            } else if is_sequence_file(&path) {
                self.others.push(path);
            }
            Ok(())
        })?;
        if self.inputs.len() > before {
            let map = folder.join(MAP);
            let is_there = is_file(&map);
            if is_there.map_err(|source| Error::File { path: map.clone(), source })? {
                self.maps.push(map);
            }
            return Ok(());
        }
        if let Some(first) = self.others.get(others) {
            return Err(Error::content(
                folder,
                format!(
                    "no genome in this folder: its {} files of sequences have genes or reads by their \
                     names, first {}; name files themselves if they are meant",
                    self.others.len() - others,
                    first.display()
                ),
            ));
        }
        Err(Error::content(
            folder,
            match FileKind::of_path(folder) {
                Some(kind) if kind != FileKind::Folder => {
                    kind.instead_of("a folder of FASTA files", None)
                }
                _ => {
                    let known = GENOMES.join(", .");
                    format!("no FASTA file in this folder (.{known}, plain or compressed)")
                }
            },
        ))
    }
}

/// The files of [`References::expand`], for who needs no taxa of manifests.
///
/// # Errors
/// As [`References::expand`].
pub fn expand_references(args: &[PathBuf]) -> Result<Vec<Input>, Error> {
    References::expand(args).map(|references| references.inputs)
}

/// Whether a file is the manifest of a library; one with the name of a file of sequences is none.
fn is_manifest(path: &Path) -> bool {
    !is_sequence_file(path) && FileKind::of_path(path) == Some(FileKind::Library)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_in_themselves_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["a/2.fa", "a/b/1.fna.gz", "a/.3.fa", "a/b/text"] {
            fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("..", root.join("a/b/up")).unwrap();
        std::os::unix::fs::symlink("a", root.join("c")).unwrap();
        let found = expand_references(&[root.to_owned()]).unwrap();
        let names = ["a/2.fa", "a/b/1.fna.gz", "c/2.fa", "c/b/1.fna.gz"];
        assert_eq!(found, names.map(|name| Input::File(root.join(name))));
    }
}
