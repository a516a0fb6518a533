//! Texts that are no files of sequences: indexes of `merganser index`, whose sequences are read.

use merganser_io::{FileKind, Input};
use merganser_map::fasta_of_index;

use crate::Error;

/// Returns the texts, with the sequences of an index instead of its file. Streams are not looked at, as an index can be
/// read only from a file.
///
/// # Errors
/// If a file cannot be read, or an index cannot be opened.
pub(crate) fn with_indexes(texts: &[Input]) -> Result<Vec<Input>, Error> {
    texts.iter().map(with_index).collect()
}

fn with_index(text: &Input) -> Result<Input, Error> {
    let path = match text {
        Input::File(path) => path,
        Input::Referenced(input, _) if let Input::File(path) = &**input => path,
        _ => return Ok(text.clone()),
    };
    let kind = FileKind::read(path);
    let kind = kind.map_err(|source| Error::File { path: path.clone(), source })?;
    match kind {
        Some(FileKind::Index) => Ok(fasta_of_index(path)?),
        _ => Ok(text.clone()),
    }
}
