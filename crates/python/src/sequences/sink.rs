//! A temporary file of sequences that were passed directly.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::{Input, put_decimal};
use pyo3::prelude::*;
use tempfile::NamedTempFile;

use super::Inputs;
use crate::errors::{raise, wrong};
use crate::temporary;

/// The number of bytes that are written to a temporary file at once.
const AT_ONCE: usize = 1 << 20;

/// The reason why a sequence cannot be written to a temporary file.
pub(super) enum Problem {
    Letter(u64, u8),
    Write(PathBuf, io::Error),
}

impl Problem {
    pub(super) fn raise(self, py: Python<'_>, argument: &str) -> PyErr {
        match self {
            Problem::Letter(number, byte) => {
                let byte = byte.escape_ascii();
                wrong(py, argument, format!("sequence {number}: '{byte}' is not a letter"))
            }
            Problem::Write(dir, cause) => unwritten(py, dir, cause),
        }
    }
}

fn unwritten(py: Python<'_>, dir: PathBuf, cause: io::Error) -> PyErr {
    raise(py, &merganser_io::Error::Temporary { dir, action: "write", cause: Arc::new(cause) })
}

/// A temporary file of sequences.
pub(super) struct Sink {
    file: NamedTempFile,
    folder: PathBuf,
    number: u64,
    /// Text that has not been written.
    text: Vec<u8>,
}

impl Sink {
    pub(super) fn add(&mut self, letters: &[u8]) -> Result<(), Problem> {
        self.number += 1;
        // A fold over all letters instead of a search, so that the compiler vectorizes it.
        if letters.iter().fold(false, |bad, &byte| bad | is_no_letter(byte)) {
            let byte = letters.iter().copied().find(|&byte| is_no_letter(byte));
            return Err(Problem::Letter(self.number, byte.unwrap_or_default()));
        }
        self.text.push(b'>');
        put_decimal(self.number, &mut self.text);
        self.text.push(b'\n');
        self.text.extend_from_slice(letters);
        self.text.push(b'\n');
        if self.text.len() < AT_ONCE { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), Problem> {
        let written = self.file.write_all(&self.text);
        self.text.clear();
        written.map_err(|error| Problem::Write(self.folder.clone(), error))
    }
}

/// Whether a byte cannot be a letter of a sequence: it is not printable ASCII, or it begins a header.
fn is_no_letter(byte: u8) -> bool {
    byte <= b' ' || byte >= 0x7f || byte == b'>'
}

/// Returns the temporary file that `fill` fills with sequences.
pub(super) fn in_file(
    py: Python<'_>,
    argument: &str,
    folder: &Path,
    fill: impl FnOnce(&mut Sink) -> PyResult<()>,
) -> PyResult<Inputs> {
    let failed = |error| unwritten(py, folder.to_owned(), error);
    let beginning = temporary::beginning(argument);
    let file =
        tempfile::Builder::new().prefix(&beginning).suffix(temporary::END).tempfile_in(folder);
    let (file, text) = (file.map_err(failed)?, Vec::with_capacity(2 * AT_ONCE));
    let mut sink = Sink { file, folder: folder.to_owned(), number: 0, text };
    fill(&mut sink)?;
    sink.write().map_err(|problem| problem.raise(py, argument))?;
    let file = sink.file;
    Ok(Inputs { inputs: vec![Input::File(file.path().to_owned())], sequences: Some(file) })
}
