//! Which files references are read from.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use merganser_io::{FileKind, Input, is_file, look_up};

use crate::Error;
use crate::library::Manifest;
use merganser_taxonomy::assembly;

/// The name of the maps that Kraken 2 has beside genomes.
pub(crate) const MAP: &str = "seqid2taxid.map";
/// The suffixes by which sequence files are known in a folder, before that of a compression.
const SUFFIXES: [&str; 7] = ["fna", "fa", "fasta", "fas", "ffn", "fastq", "fq"];
/// Those of them that genomes have; others are of genes, and reads.
const GENOMES: &[&str] = SUFFIXES.split_at(4).0;
/// How the names of files end, before the suffix, that have genes of a genome and not the genome.
const GENES: [&str; 6] =
    ["cds_from_genomic", "rna_from_genomic", "_pseudo_without_product", "_rna", "_cds", "_gene"];
/// Whole names of such files, of `datasets`.
const GENE_FILES: [&str; 5] = ["rna", "cds", "gene", "5p_utr", "3p_utr"];
const COMPRESSIONS: [&str; 6] = ["gz", "bgz", "bz2", "xz", "zst", "bgzf"];

/// The files that arguments stand for, and the manifests among these, which know the taxa of theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The files of sequences, in the order in which they are numbered.
    pub inputs: Vec<Input>,
    /// The manifests of libraries that were given: maps of their files' taxa, to be among
    /// [`BuildConfig::maps`](crate::BuildConfig::maps).
    pub manifests: Vec<PathBuf>,
    /// Maps of taxids (`seqid2taxid.map`) that folders have which were given, to be
    /// [`BuildConfig::maps_beside`](crate::BuildConfig::maps_beside).
    pub maps: Vec<PathBuf>,
    /// Files of sequences in folders that are no genomes by their names: genes and reads. They are left out.
    pub others: Vec<PathBuf>,
}

impl References {
    /// Turns arguments into reference files: folders stand for all genomes in them and the folders
    /// below, in the order of their names, which are those of [`Downloads::find`](crate::library::Downloads::find); a [manifest](Manifest) for its genomes, in its order;
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

/// Shows all files in a folder and those below it, in the order of their names. A link to a folder
/// that it stands in leads nowhere.
///
/// # Errors
/// If a folder cannot be read; as `visit`.
pub(crate) fn walk(
    folder: &Path,
    visit: &mut dyn FnMut(PathBuf) -> Result<(), Error>,
) -> Result<(), Error> {
    walk_below(folder, &mut HashSet::new(), visit)
}

fn walk_below(
    folder: &Path,
    above: &mut HashSet<(u64, u64)>,
    visit: &mut dyn FnMut(PathBuf) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |source| Error::File { path: folder.to_owned(), source };
    let metadata = fs::metadata(folder).map_err(failed)?;
    let place = (metadata.dev(), metadata.ino());
    if !above.insert(place) {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut paths = paths.map_err(failed)?;
    paths.sort();
    for path in paths {
        let there = look_up(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        if there.is_some_and(|there| there.is_dir()) {
            walk_below(&path, above, visit)?;
        } else {
            visit(path)?;
        }
    }
    above.remove(&place);
    Ok(())
}

/// Whether a file's name says that it holds sequences.
pub(crate) fn is_sequence_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let compressed = name.rsplit_once('.').filter(|(_, end)| COMPRESSIONS.contains(end));
    let name = compressed.map_or(name.as_str(), |(stem, _)| stem);
    !name.starts_with('.') && name.rsplit_once('.').is_some_and(|(_, e)| SUFFIXES.contains(&e))
}

/// Whether a file has the name of a genome.
pub(crate) fn is_genome(path: &Path) -> bool {
    if !is_sequence_file(path) {
        return false;
    }
    let (bare, name) = bare_name(path);
    let suffix = name[bare.len()..].split('.').nth(1).unwrap_or_default();
    GENOMES.contains(&suffix) && !has_genes(&bare)
}

/// Whether a file has the name that NCBI gives to the genes of a genome. (Others may end alike.)
pub(crate) fn is_ncbi_gene_file(path: &Path) -> bool {
    let (bare, _) = bare_name(path);
    let of_ncbi = bare.ends_with("_from_genomic") || GENE_FILES.contains(&bare.as_str());
    let of_assembly = assembly(bare.to_ascii_uppercase().as_bytes()).is_some();
    is_sequence_file(path) && has_genes(&bare) && (of_ncbi || of_assembly)
}

fn has_genes(bare: &str) -> bool {
    GENES.iter().any(|end| bare.ends_with(end)) || GENE_FILES.contains(&bare)
}

/// The name of a file of sequences in small letters, without its suffixes and as a whole.
fn bare_name(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = String::from_utf8_lossy(without_suffixes(name.as_bytes())).into_owned();
    (bare, name)
}

/// The name of a file of sequences without the ends that tell its format and compression.
pub(crate) fn without_suffixes(name: &[u8]) -> &[u8] {
    let without = |name: &[u8], ends: &[&str]| {
        let known = |end: &&&str| {
            name.ends_with(end.as_bytes()) && { name[..name.len() - end.len()].ends_with(b".") }
        };
        ends.iter().find(known).map_or(name.len(), |end| name.len() - end.len() - 1)
    };
    let name = &name[..without(name, &COMPRESSIONS)];
    &name[..without(name, &SUFFIXES)]
}

#[cfg(test)]
mod tests {
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
