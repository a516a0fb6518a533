//! The files in folders of downloads.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use merganser_io::{is_file, look_up};

use super::{checksums, lists};
use crate::Error;
use crate::file_names::{is_genome, walk};

/// The files in folders of downloads: genomes, lists of assemblies and lists of checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Downloads {
    /// The given folders, each with the number of genomes in it and the folders before it.
    pub(super) folders: Vec<(PathBuf, usize)>,
    pub(super) genomes: Vec<PathBuf>,
    pub(super) lists: Vec<PathBuf>,
    pub(super) checksums: Vec<PathBuf>,
}

impl Downloads {
    /// Searches folders and all folders below them, in the order of names. Genomes are files with the name of a
    /// sequence file (`.fna`, `.fa`, `.fasta`, `.fas`, plain or compressed), except files of genes
    /// (`…_cds_from_genomic.fna.gz`, `.ffn`).
    ///
    /// # Errors
    /// If a path is not a folder, cannot be read, contains no genome, or is within another one; if a file name cannot
    /// be written to a manifest.
    pub fn find(folders: &[PathBuf]) -> Result<Downloads, Error> {
        let mut found = Downloads::default();
        let mut places: Vec<(PathBuf, &PathBuf)> = Vec::new();
        for folder in folders {
            let failed = |source| Error::File { path: folder.clone(), source };
            if look_up(folder).map_err(failed)?.is_some_and(|there| !there.is_dir()) {
                return Err(Error::content(
                    folder,
                    "not a folder: name the one that the genomes were downloaded to",
                ));
            }
            let place = folder.canonicalize().map_err(failed)?;
            refuse_overlap(folder, &place, &places)?;
            places.push((place, folder));
            let before = found.genomes.len();
            walk(folder, &mut |path| found.add(path))?;
            if found.genomes.len() == before {
                return Err(Error::content(
                    folder,
                    "no genome in this folder (.fna, .fa, .fasta, .fas, plain or compressed)",
                ));
            }
            found.folders.push((folder.clone(), found.genomes.len()));
        }
        let breaks =
            |path: &&PathBuf| path.as_os_str().as_bytes().iter().any(|b| b"\t\n\r".contains(b));
        match found.genomes.iter().find(breaks) {
            None => Ok(found),
            Some(path) => Err(Error::Input(format!(
                "{}: a manifest cannot have a name with a tab or line end: rename it",
                path.display().to_string().escape_debug()
            ))),
        }
    }

    /// Returns all files that were found.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let all = [&self.genomes, &self.lists, &self.checksums];
        all.into_iter().flatten().map(PathBuf::as_path)
    }

    fn add(&mut self, path: PathBuf) -> Result<(), Error> {
        // Opening a named pipe would block.
        if !is_file(&path).map_err(|source| Error::File { path: path.clone(), source })? {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if lists::is_list(&name) {
            self.lists.push(path);
        } else if checksums::is_list(&name) {
            self.checksums.push(path);
        } else if is_genome(&path) {
            self.genomes.push(path);
        }
        Ok(())
    }
}

/// Checks that a folder does not overlap another one, so that no genome is found twice.
fn refuse_overlap(
    folder: &Path,
    place: &Path,
    others: &[(PathBuf, &PathBuf)],
) -> Result<(), Error> {
    for (other, name) in others {
        let name = name.display();
        let what = match (place.starts_with(other), other.starts_with(place)) {
            (true, _) => format!("is in {name}"),
            (_, true) => format!("has {name} in it"),
            _ => continue,
        };
        return Err(Error::content(
            folder,
            format!(
                "{what}, which is given as well: give one of them, which is searched with all below"
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn genomes_are_told_by_their_names() {
        for name in [
            "GCF_000005845.2_ASM584v2_genomic.fna.gz",
            "GCA_000005845.2_genomic.fna",
            "chr1.fna",
            "mine.FA.xz",
            "a.fasta",
            "b.fas.zst",
        ] {
            assert!(is_genome(Path::new(name)), "{name}");
        }
        for name in [
            "GCF_000005845.2_ASM584v2_cds_from_genomic.fna.gz",
            "GCF_000005845.2_ASM584v2_rna_from_genomic.fna.gz",
            "GCF_000001405.40_GRCh38.p14_rna.fna.gz",
            "cds_from_genomic.fna",
            "rna.fna",
            "genes.ffn",
            "reads.fastq.gz",
            ".hidden.fna",
            "GCF_000005845.2_ASM584v2_genomic.gff.gz",
            "GCF_000005845.2_ASM584v2_genomic.fna.gz.part",
        ] {
            assert!(!is_genome(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn folders_are_looked_through() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for folder in ["d/a/b", "empty", "odd"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        let names = [
            "d/a/x.fna.gz",
            "d/a/md5checksums.txt",
            "d/a/b/y.fa",
            "d/assembly_summary_refseq.txt",
            "d/assembly_data_report.jsonl",
            "d/MD5SUMS",
            "odd/a\tb.fa",
        ];
        names.iter().for_each(|name| fs::write(path(name), "").unwrap());
        let found = Downloads::find(&[path("d")]).unwrap();
        assert_eq!(found.genomes, ["d/a/b/y.fa", "d/a/x.fna.gz"].map(path));
        let lists = ["d/assembly_data_report.jsonl", "d/assembly_summary_refseq.txt"];
        assert_eq!(found.lists, lists.map(path));
        assert_eq!(found.checksums, ["d/MD5SUMS", "d/a/md5checksums.txt"].map(path));
        assert_eq!(found.files().count(), 6);
        let says = |name: &str| Downloads::find(&[path(name)]).unwrap_err().to_string();
        assert!(says("d/MD5SUMS").ends_with(
            "MD5SUMS: not a folder: name the one that the genomes were \
                                             downloaded to"
        ));
        assert!(says("none").ends_with("none: no such file or directory"));
        assert!(says("empty").contains("empty: no genome in this folder (.fna"));
        let both = |one: &str, other: &str| {
            Downloads::find(&[path(one), path(other)]).unwrap_err().to_string()
        };
        assert!(both("d", "d/a").contains("d/a: is in ") && both("d/a", "d").contains("d: has "));
        assert!(both("d", "d/../d").contains("is in "));
        assert!(says("odd").ends_with(
            "a\\tb.fa: a manifest cannot have a name with a tab or \
                                       line end: rename it"
        ));
    }
}
