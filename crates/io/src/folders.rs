//! Folders of sequences as inputs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{Error, FileKind, Input, OutputFormat};

/// The formats of sequences that names of files tell.
const SEQUENCES: [OutputFormat; 5] = [
    OutputFormat::Fastq,
    OutputFormat::Fasta,
    OutputFormat::Sam,
    OutputFormat::Bam,
    OutputFormat::Cram,
];

/// Replaces each input that is a folder by the files of sequences in it, in the order of their names; folders in it are
/// left out. Databases of Kraken 2 and taxonomies are kept as they are.
///
/// # Errors
/// If a folder cannot be read, has no file of sequences, or has files of several formats, which may be the same reads.
pub fn expand_folders(inputs: Vec<Input>) -> Result<Vec<Input>, Error> {
    let mut all = Vec::with_capacity(inputs.len());
    for input in inputs {
        match input.path().filter(|path| is_folder(path)).map(Path::to_owned) {
            Some(folder) => all.extend(files_of(&folder)?.into_iter().map(Input::File)),
            None => all.push(input),
        }
    }
    Ok(all)
}

fn is_folder(path: &Path) -> bool {
    let known = || FileKind::of_path(path);
    path.is_dir() && !matches!(known(), Some(FileKind::Kraken2 | FileKind::Taxonomy))
}

/// Returns the files of sequences in a folder, sorted.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |reason| Error::Open { input: folder.display().to_string(), reason };
    let unread = |error: io::Error| failed(crate::reason(&error));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let format = OutputFormat::of_name(&path).filter(|format| SEQUENCES.contains(format));
        // Names that begin with a dot are hidden: macOS puts files of its own beside those of users.
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        if let Some(format) = format.filter(|_| !is_hidden && !path.is_dir()) {
            files.push((path, format));
        }
    }
    files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let Some(&(_, first)) = files.first() else {
        return Err(failed("it is a directory without files of sequences; name files".into()));
    };
    if let Some((_, other)) = files.iter().find(|file| file.1 != first) {
        return Err(failed(format!(
            "it is a directory with files of {first} and of {other}, which may be the same reads; name files"
        )));
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_their_files_of_sequences() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let of = || expand_folders(vec![Input::File(folder.path().to_owned())]);
        let message = || of().unwrap_err().to_string();
        for name in ["notes.txt", "._b.fq.gz", "reads.fq.gz.md5"] {
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir(at("more.fq")).unwrap();
        assert!(message().ends_with("without files of sequences; name files"), "{}", message());
        for name in ["b.fq.gz", "a.fastq", "C.FQ"] {
            fs::write(at(name), "").unwrap();
        }
        let names = ["C.FQ", "a.fastq", "b.fq.gz"].map(|name| Input::File(at(name)));
        assert_eq!(of().unwrap(), names);
        // Other inputs stay where they are.
        let others = [Input::Stdin, Input::File(at("a.fastq"))];
        assert_eq!(expand_folders(others.to_vec()).unwrap(), others);
        fs::write(at("a.bam"), "").unwrap();
        assert!(message().contains("files of"), "{}", message());
    }
}
