//! The reads of a call: files or sequences.

mod sink;

use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use merganser_io::{Input, expand_inputs};
use merganser_run::thousands;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyString};
use tempfile::NamedTempFile;

use crate::arrow;
use crate::errors::{OrRaise, mistyped};
use crate::numpy::Matrix;
use sink::in_file;

/// The letters of sequences: those of IUPAC for DNA and RNA, and gaps.
const LETTERS: &[u8] = b"ACGTUNRYSWKMBDHV*-";
/// The number of letters of a text that a message shows.
const SHOWN: usize = 20;
/// The maximum number of bytes of the path of a file (Linux, PATH_MAX).
const MAX_PATH: usize = 4096;

/// The inputs, and the temporary file of sequences that were passed directly.
pub(crate) struct Inputs {
    pub(crate) inputs: Vec<Input>,
    sequences: Option<NamedTempFile>,
}

impl Inputs {
    /// Whether the inputs are files, and not sequences that were passed directly, whose names are their numbers, from
    /// 1.
    pub(crate) fn are_files(&self) -> bool {
        self.sequences.is_none()
    }

    /// Returns the inputs with the FASTA file, if there is one, that is needed to read them if they are CRAM.
    pub(crate) fn with_reference(&self, reference: Option<&Path>) -> Vec<Input> {
        match reference {
            Some(path) => {
                self.inputs.iter().cloned().map(|input| input.with_reference(path)).collect()
            }
            None => self.inputs.clone(),
        }
    }
}

/// Returns the inputs for the argument `argument`: one or several files (`str` or `PathLike`), or sequences (an array,
/// or an iterable of `bytes`), which are written to a temporary file in `folder`.
pub(crate) fn inputs(argument: &str, reads: &Bound<'_, PyAny>, folder: &Path) -> PyResult<Inputs> {
    inputs_by(argument, reads, folder, is_path)
}

/// Returns the inputs for the argument `argument`, as [`inputs`] does, but also takes one sequence alone, and sequences as
/// `str`: those that only have letters of DNA and are not the names of files.
pub(crate) fn texts(argument: &str, texts: &Bound<'_, PyAny>, folder: &Path) -> PyResult<Inputs> {
    let py = texts.py();
    if texts.is_instance_of::<PyBytes>() || is_letters(texts)? {
        return in_file(py, argument, folder, |file| {
            let letters = letters(argument, texts)?;
            py.detach(|| file.add(letters)).map_err(|problem| problem.raise(py, argument))
        });
    }
    inputs_by(argument, texts, folder, |text| Ok(is_path(text)? && !is_letters(text)?))
}

/// Returns inputs. `is_path` decides which objects name files.
fn inputs_by(
    argument: &str,
    reads: &Bound<'_, PyAny>,
    folder: &Path,
    is_path: impl Fn(&Bound<'_, PyAny>) -> PyResult<bool>,
) -> PyResult<Inputs> {
    let py = reads.py();
    if is_path(reads)? {
        return files(py, vec![path(argument, reads)?]);
    }
    if let Some(arrays) = Arrays::of(argument, reads)? {
        let slices = arrays.slices(argument)?;
        return in_file(py, argument, folder, |file| {
            py.detach(|| slices.iter().try_for_each(|letters| file.add(letters)))
                .map_err(|problem| problem.raise(py, argument))
        });
    }
    let mut items = items(argument, reads)?.peekable();
    let are_files = match items.peek() {
        Some(Ok(first)) => is_path(first)?,
        _ => false,
    };
    if are_files {
        let paths = items.enumerate().map(|(at, item)| {
            let item = item?;
            if !is_path(&item)? {
                return Err(mixed(argument, at));
            }
            path(argument, &item)
        });
        return files(py, paths.collect::<PyResult<_>>()?);
    }
    in_file(py, argument, folder, |file| {
        for (at, item) in items.enumerate() {
            let item = item?;
            if at > 0 && is_path(&item)? {
                return Err(mixed(argument, at));
            }
            file.add(letters(argument, &item)?).map_err(|problem| problem.raise(py, argument))?;
        }
        Ok(())
    })
}

/// Returns the files for the argument `argument`: one path or several (`str` or `PathLike`).
pub(crate) fn paths(argument: &str, files: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if is_path(files)? {
        return Ok(vec![files.extract()?]);
    }
    let mut paths = Vec::new();
    let kind = files.get_type().name()?;
    if files.is_instance_of::<PyDict>() {
        return Err(mistyped(argument, format!("give one path or several, not {kind}")));
    }
    let items = files.try_iter();
    for item in
        items.map_err(|_| mistyped(argument, format!("give one path or several, not {kind}")))?
    {
        let item = item?;
        if !is_path(&item)? {
            let kind = item.get_type().name()?;
            return Err(mistyped(argument, format!("a file must be str or PathLike, not {kind}")));
        }
        paths.push(item.extract()?);
    }
    Ok(paths)
}

/// Whether an object names a file.
fn is_path(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.is_instance_of::<PyString>() || object.hasattr("__fspath__")?)
}

/// Whether an object is a `str` of letters of DNA that is not the name of a file.
fn is_letters(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(text) = object.cast::<PyString>() else { return Ok(false) };
    Ok(text.to_cow().is_ok_and(|text| has_only_letters(&text) && !Path::new(&*text).exists()))
}

fn has_only_letters(text: &str) -> bool {
    text.bytes().all(|byte| LETTERS.contains(&byte.to_ascii_uppercase()))
}

/// Returns the path in an object. A text that can only be a sequence is an error.
fn path(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = object.extract()?;
    let Ok(text) = object.cast::<PyString>() else { return Ok(path) };
    let text = text.to_cow()?;
    if text.len() > MAX_PATH {
        let (text, length) = (shortened(&text), thousands(text.len() as u64));
        let problem = format!("'{text}' is too long for the name of a file, {length} bytes");
        return Err(mistyped(argument, format!("{problem}: give sequences as bytes")));
    }
    if !text.is_empty() && has_only_letters(&text) && !path.exists() {
        let text = shortened(&text);
        let message = format!(
            "'{text}' is a str, which names a file, and there is no such file: give sequences as bytes, b\"{text}\""
        );
        return Err(mistyped(argument, message));
    }
    Ok(path)
}

/// Returns the beginning of a text of letters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn mixed(argument: &str, at: usize) -> PyErr {
    let number = at + 1;
    mistyped(
        argument,
        format!("item {number} is not of the kind of the first: give either files or sequences"),
    )
}

fn files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Inputs> {
    let inputs = expand_inputs(&paths).or_raise(py)?;
    Ok(Inputs { inputs, sequences: None })
}

/// Returns the items of an iterable. A single sequence is an error, as are other objects.
fn items<'py>(
    argument: &str,
    object: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'py>> {
    let is_one = object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>();
    if is_one {
        let kind = object.get_type().name()?;
        let message = format!("one {kind} object: give a list of sequences, [b\"ACGT\"]");
        return Err(mistyped(argument, message));
    }
    if object.is_instance_of::<PyString>() {
        return Err(mistyped(
            argument,
            "a str is not a list: give a list of sequences, [b\"ACGT\"]",
        ));
    }
    if object.hasattr("read")? {
        return Err(mistyped(argument, "a file object: give the name of the file"));
    }
    object.try_iter().map_err(|_| match object.get_type().name() {
        Ok(kind) => mistyped(argument, format!("{kind} is not an iterable of sequences")),
        Err(error) => error,
    })
}

/// Returns the letters of an item of an iterable of sequences, which may be a `str`.
fn letters<'a>(argument: &str, item: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    match item.cast::<PyString>() {
        Ok(text) if is_letters(item)? => Ok(text.to_str()?.as_bytes()),
        _ => Ok(sequence(argument, item)?.as_bytes()),
    }
}

/// Returns the object of an item of an iterable of sequences, which must be `bytes`.
fn sequence<'a, 'py>(
    argument: &str,
    item: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyBytes>> {
    item.cast::<PyBytes>().map_err(|_| {
        if item.is_instance_of::<PyString>() {
            let message = "a str is not a sequence: give bytes, such as b\"ACGT\"";
            return mistyped(argument, message);
        }
        match item.get_type().name() {
            Ok(kind) => mistyped(argument, format!("a sequence must be bytes, not {kind}")),
            Err(error) => error,
        }
    })
}

/// Sequences in an array of NumPy or Arrow, which is not copied.
enum Arrays<'py> {
    Arrow(Vec<ArrayRef>),
    Numpy(Matrix<'py>),
}

impl<'py> Arrays<'py> {
    /// Returns the sequences; `None` if the object is not an array.
    fn of(argument: &str, object: &Bound<'py, PyAny>) -> PyResult<Option<Arrays<'py>>> {
        if let Some(matrix) = Matrix::of(argument, object)? {
            return Ok(Some(Arrays::Numpy(matrix)));
        }
        Ok(match arrow::is_arrow(object)? {
            true => Some(Arrays::Arrow(arrow::arrays(argument, object)?)),
            false => None,
        })
    }

    fn slices(&self, argument: &str) -> PyResult<Vec<&[u8]>> {
        match self {
            Arrays::Numpy(matrix) => Ok(matrix.slices()),
            Arrays::Arrow(arrays) => {
                let mut all = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
                for array in arrays {
                    all.append(&mut arrow::texts(argument, array)?);
                }
                Ok(all)
            }
        }
    }
}

/// Sequences in the form in which they were passed; letters are not copied.
pub(crate) struct Sequences<'py> {
    argument: &'static str,
    given: Given<'py>,
}

enum Given<'py> {
    Arrays(Arrays<'py>),
    Items(Vec<Bound<'py, PyBytes>>),
}

impl Sequences<'_> {
    /// Returns the letters of each sequence.
    pub(crate) fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match &self.given {
            Given::Arrays(arrays) => arrays.slices(self.argument),
            Given::Items(items) => Ok(items.iter().map(|item| item.as_bytes()).collect()),
        }
    }
}

/// Returns the sequences for the argument `argument`: an array of NumPy or Arrow, or an iterable of `bytes`.
pub(crate) fn sequences<'py>(
    argument: &'static str,
    object: &Bound<'py, PyAny>,
) -> PyResult<Sequences<'py>> {
    if let Some(arrays) = Arrays::of(argument, object)? {
        return Ok(Sequences { argument, given: Given::Arrays(arrays) });
    }
    let own = |item: PyResult<Bound<'py, PyAny>>| {
        let item = item?;
        sequence(argument, &item).cloned()
    };
    let items = items(argument, object)?.map(own).collect::<PyResult<_>>()?;
    Ok(Sequences { argument, given: Given::Items(items) })
}
