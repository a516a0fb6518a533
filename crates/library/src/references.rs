//! The files that references are read from.

use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, is_file};

use crate::file_names::{GENOMES, MAP, is_genome, is_sequence_file, walk};
use crate::{Error, Manifest};

/// The files that arguments refer to, and the manifests among the arguments, which have the taxa of their files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The files of sequences, in the order in which they are numbered.
    pub inputs: Vec<Input>,
    /// The manifests that were given; they are to be added to the maps of taxids (`map`) of a
    /// build.
    pub manifests: Vec<PathBuf>,
    /// The maps of taxids (`seqid2taxid.map`) in given folders; they are to be added to
    /// the `maps_beside` of a build.
    pub maps: Vec<PathBuf>,
    /// Sequence files in folders that are left out because their names are those of genes or reads.
    pub others: Vec<PathBuf>,
}

impl References {
    /// Expands arguments to reference files: a folder to all genomes in it and the folders below, in the order of
    /// names, with the rules of [`Downloads::find`](crate::Downloads::find); a [manifest](Manifest) to its genomes, in
    /// its order; `@list` and single files as in all commands.
    ///
    /// # Errors
    /// If a folder or a list cannot be read; if a folder contains no genome; those of
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
                    "no genome in this folder: by their names, its {} files of sequences are genes or \
                     reads, first {}; give the files themselves to use them",
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

/// Expands arguments to the files of [`References::expand`], for callers that do not need the taxa of manifests.
///
/// # Errors
/// The errors of [`References::expand`].
pub fn expand_references(args: &[PathBuf]) -> Result<Vec<Input>, Error> {
    References::expand(args).map(|references| references.inputs)
}

/// Whether a file is the manifest of a library; a file with the name of a sequence file is not.
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
