//! Classification of files by their names: sequences, genomes, genes.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use merganser_io::look_up;
use merganser_taxonomy::assembly;

use crate::Error;

/// The name of Kraken 2's maps, which are in the folders of genomes.
pub(crate) const MAP: &str = "seqid2taxid.map";
/// The suffixes of sequence files, without the suffix of a compression format.
const SUFFIXES: [&str; 7] = ["fna", "fa", "fasta", "fas", "ffn", "fastq", "fq"];
/// The suffixes of genomes; the others are those of genes and reads.
pub(crate) const GENOMES: &[&str] = SUFFIXES.split_at(4).0;
/// The ends of names, before the suffix, of files with the genes of a genome.
const GENES: [&str; 6] =
    ["cds_from_genomic", "rna_from_genomic", "_pseudo_without_product", "_rna", "_cds", "_gene"];
/// The whole names of such files as written by `datasets`.
const GENE_FILES: [&str; 5] = ["rna", "cds", "gene", "5p_utr", "3p_utr"];
const COMPRESSIONS: [&str; 6] = ["gz", "bgz", "bz2", "xz", "zst", "bgzf"];

/// Calls `visit` with all files in a folder and the folders below it, in the order of their names. A link to a
/// folder that contains it is skipped.
///
/// # Errors
/// If a folder cannot be read; any error of `visit`.
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

/// Whether a file has the name of a sequence file.
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

/// Whether a file has a name that NCBI gives to the genes of a genome; other files may have similar names.
pub fn is_ncbi_gene_file(path: &Path) -> bool {
    let (bare, _) = bare_name(path);
    let of_ncbi = bare.ends_with("_from_genomic") || GENE_FILES.contains(&bare.as_str());
    let of_assembly = assembly(bare.to_ascii_uppercase().as_bytes()).is_some();
    is_sequence_file(path) && has_genes(&bare) && (of_ncbi || of_assembly)
}

fn has_genes(bare: &str) -> bool {
    GENES.iter().any(|end| bare.ends_with(end)) || GENE_FILES.contains(&bare)
}

/// Returns the name of a sequence file in lower case, without its suffixes and whole.
fn bare_name(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = String::from_utf8_lossy(without_suffixes(name.as_bytes())).into_owned();
    (bare, name)
}

/// Returns the name of a sequence file without the suffixes of its format and compression.
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
