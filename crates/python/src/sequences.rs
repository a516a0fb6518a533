//! The reads of a call: files or sequences.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use merganser::io::{Input, expand_inputs};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tempfile::NamedTempFile;

use crate::arrow;
use crate::errors::{OrRaise, wrong};

/// The inputs, and the temporary file of sequences that were passed directly.
pub(crate) struct Inputs {
    pub(crate) inputs: Vec<Input>,
    _sequences: Option<NamedTempFile>,
}

/// The meaning of an item of an iterable.
enum Item<'py> {
    File(PathBuf),
    Sequence(Bound<'py, PyAny>),
}

impl<'py> Item<'py> {
    /// Classifies an item. A path is a file. A text is a sequence if it has only letters, unless a file has this
    /// name.
    fn of(item: Bound<'py, PyAny>) -> PyResult<Item<'py>> {
        if let Ok(text) = item.cast::<PyString>() {
            let text = text.to_cow()?;
            let is_sequence =
                text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"*-".contains(&byte));
            return Ok(match is_sequence && !Path::new(&*text).exists() {
                true => Item::Sequence(item.clone()),
                false => Item::File(PathBuf::from(&*text)),
            });
        }
        if item.hasattr("__fspath__")? {
            return Ok(Item::File(item.extract()?));
        }
        Ok(Item::Sequence(item))
    }
}

/// Returns the inputs for `reads`: one or several files, or sequences (an iterable of `bytes` and `str`, or Arrow
/// strings).
pub(crate) fn inputs(reads: &Bound<'_, PyAny>, folder: &Path) -> PyResult<Inputs> {
    let py = reads.py();
    if reads.is_instance_of::<PyString>() || reads.hasattr("__fspath__")? {
        let path: PathBuf = reads.extract()?;
        return files(py, vec![path]);
    }
    let mut file = Sequences::new(folder)?;
    if arrow::is_arrow(reads)? {
        arrow::for_each_text(reads, |text| file.add(text.unwrap_or_default()))?;
        return file.finish();
    }
    let mut paths = Vec::new();
    for item in reads.try_iter()? {
        match Item::of(item?)? {
            Item::File(path) => paths.push(path),
            Item::Sequence(sequence) => with_letters(&sequence, |letters| file.add(letters))?,
        }
    }
    match (paths.is_empty(), file.number) {
        (true, _) => file.finish(),
        (false, 0) => files(py, paths),
        (false, _) => Err(wrong(
            py,
            format!(
                "{}: a file among sequences: give either files or sequences",
                paths[0].display()
            ),
        )),
    }
}

fn files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Inputs> {
    let inputs = expand_inputs(&paths).or_raise(py)?;
    Ok(Inputs { inputs, _sequences: None })
}

/// Calls `take` with the letters of a `bytes` or `str` object.
pub(crate) fn with_letters<T>(
    item: &Bound<'_, PyAny>,
    take: impl FnOnce(&[u8]) -> PyResult<T>,
) -> PyResult<T> {
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return take(bytes.as_bytes());
    }
    if let Ok(text) = item.cast::<PyString>() {
        return take(text.to_cow()?.as_bytes());
    }
    Err(PyTypeError::new_err(format!(
        "a sequence must be bytes or str, not {}",
        item.get_type().name()?
    )))
}

/// A temporary file of sequences.
struct Sequences {
    file: BufWriter<NamedTempFile>,
    number: u64,
}

impl Sequences {
    fn new(folder: &Path) -> PyResult<Sequences> {
        let file =
            tempfile::Builder::new().prefix(".merganser-").suffix(".fa").tempfile_in(folder)?;
        Ok(Sequences { file: BufWriter::with_capacity(1 << 18, file), number: 0 })
    }

    fn add(&mut self, letters: &[u8]) -> PyResult<()> {
        self.number += 1;
        if letters.iter().any(|letter| letter.is_ascii_control() || *letter == b'>') {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "sequence {}: it has a control character or '>'",
                self.number
            )));
        }
        writeln!(self.file, ">{}", self.number)?;
        self.file.write_all(letters)?;
        self.file.write_all(b"\n")?;
        Ok(())
    }

    fn finish(self) -> PyResult<Inputs> {
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        let inputs = vec![Input::File(file.path().to_owned())];
        Ok(Inputs { inputs, _sequences: Some(file) })
    }
}
