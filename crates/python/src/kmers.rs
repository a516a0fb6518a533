//! k-mers as letters and as integers: `merganser.encode_kmers` and `merganser.decode_kmers`.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, UInt64Array};
use merganser_run::counted;
use merganser_seq::base::is_base;
use merganser_seq::kmer::Kmer;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

use crate::arrow;
use crate::column::Column;
use crate::errors::{mistyped, wrong};
use crate::integers::Int;
use crate::numpy::{Matrix, Words};

/// The largest k whose k-mers fit in 64 bits.
pub(crate) const MAX_K: usize = 32;

/// The letters of k-mers of one length, with a line end after each.
pub(crate) struct Letters {
    pub(crate) k: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Letters {
    /// Returns the letters of an array or an iterable of k-mers, the argument `kmers`, which must have `k` letters, or
    /// as many as the first one.
    pub(crate) fn of(kmers: &Bound<'_, PyAny>, k: Option<usize>) -> PyResult<Letters> {
        let py = kmers.py();
        if kmers.is_instance_of::<PyString>() || kmers.is_instance_of::<PyBytes>() {
            let problem =
                "a single k-mer: give a list of k-mers, or use Table.get for the count of one";
            return Err(mistyped("kmers", problem));
        }
        let mut collector = Collector { k, number: 0, bytes: Vec::new() };
        let mut add = |kmer: &[u8]| collector.add(kmer).map_err(|error| wrong(py, "kmers", error));
        if let Some(matrix) = Matrix::of_kmers("kmers", kmers)? {
            matrix.slices().into_iter().try_for_each(&mut add)?;
        } else if arrow::is_arrow(kmers)? {
            return Letters::of_arrays(py, &arrow::arrays("kmers", kmers)?, k);
        } else {
            for kmer in kmers.try_iter()? {
                with_kmer("kmers", &kmer?, &mut add)?;
            }
        }
        Ok(collector.letters())
    }

    /// Returns the letters of Arrow arrays as [`of`](Self::of).
    fn of_arrays(py: Python<'_>, arrays: &[ArrayRef], k: Option<usize>) -> PyResult<Letters> {
        let mut collector = Collector { k, number: 0, bytes: Vec::new() };
        for array in arrays {
            for kmer in arrow::texts("kmers", array)? {
                collector.add(kmer).map_err(|error| wrong(py, "kmers", error))?;
            }
        }
        Ok(collector.letters())
    }

    /// Returns the k-mers.
    fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.k + 1).map(|kmer| &kmer[..self.k])
    }
}

/// Collects k-mers, and checks that they have one length and only bases.
struct Collector {
    k: Option<usize>,
    number: u64,
    bytes: Vec<u8>,
}

impl Collector {
    fn letters(self) -> Letters {
        Letters { k: self.k.unwrap_or(0), bytes: self.bytes }
    }

    fn add(&mut self, kmer: &[u8]) -> Result<(), String> {
        self.number += 1;
        let k = *self.k.get_or_insert(kmer.len());
        check(kmer, k).map_err(|problem| format!("k-mer {}: {problem}", self.number))?;
        self.bytes.extend_from_slice(kmer);
        self.bytes.push(b'\n');
        Ok(())
    }
}

/// Checks that a k-mer has `k` letters, which are bases. The error is a message.
pub(crate) fn check(kmer: &[u8], k: usize) -> Result<(), String> {
    if kmer.len() != k || k == 0 {
        let (letters, shown) =
            (counted(kmer.len() as u64, "letter"), String::from_utf8_lossy(kmer));
        return Err(format!("'{shown}' has {letters}: expected k-mers of {k}"));
    }
    match kmer.iter().find(|letter| !is_base(**letter)) {
        None => Ok(()),
        Some(letter) => {
            let letter = letter.escape_ascii();
            Err(format!("it has the letter '{letter}': k-mers consist of A C G T (or U)"))
        }
    }
}

/// Calls `take` with the letters of a k-mer, a `bytes` or `str` object.
pub(crate) fn with_kmer<T>(
    argument: &str,
    item: &Bound<'_, PyAny>,
    take: impl FnOnce(&[u8]) -> PyResult<T>,
) -> PyResult<T> {
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return take(bytes.as_bytes());
    }
    if let Ok(text) = item.cast::<PyString>() {
        return take(text.to_cow()?.as_bytes());
    }
    let kind = item.get_type().name()?;
    let hint = if argument == "kmer" { ": use query for several" } else { "" };
    Err(mistyped(argument, format!("a k-mer must be str or bytes, not {kind}{hint}")))
}

/// Encodes k-mers of up to 32 bases as integers: 2 bits per base, A C G T = 0 1 2 3, the first base most significant.
///
/// Args:
///     kmers: k-mers of one length: an iterable of str and bytes, Arrow strings, or a NumPy array of dtype "S" or "U".
///     canonical: Encode the smaller one of each k-mer and its reverse complement, as in canonical tables.
///
/// Returns:
///     A NumPy array of uint64 (a `Column` if NumPy is not installed), for `Table.query` and `decode_kmers`.
///
/// Raises:
///     ArgumentError: If k-mers differ in length, are longer than 32 bases, or have a letter that is not a base.
///
/// >>> import merganser
/// >>> merganser.encode_kmers(["ACGT", "TTTT"]).tolist()
/// [27, 255]
/// >>> merganser.encode_kmers(["TTTT"], canonical=True).tolist()
/// [0]
#[pyfunction]
#[pyo3(signature = (kmers, canonical=false))]
pub(crate) fn encode_kmers<'py>(
    py: Python<'py>,
    kmers: &Bound<'py, PyAny>,
    canonical: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let letters = Letters::of(kmers, None)?;
    let k = letters.k;
    if k > MAX_K {
        let problem = format!("k is {k}: only k-mers of up to {MAX_K} bases fit into 64 bits");
        return Err(wrong(py, "kmers", problem));
    }
    let words = py.detach(|| {
        let word = |kmer| {
            let word = u64::from_letters(kmer).unwrap_or_default();
            if canonical { word.least(word.reverse_complement(k)) } else { word }
        };
        letters.each().map(word).collect::<Vec<u64>>()
    });
    Column(Arc::new(UInt64Array::from(words)) as ArrayRef).shown(py)
}

/// Decodes integers to k-mers of `k` bases, as `encode_kmers` and `Table.batches(kmers="int")` return them.
///
/// Args:
///     kmers: A NumPy array or an Arrow array of integers, or an iterable of int.
///     k: The length of a k-mer in bases, 1 to 32.
///
/// Returns:
///     A `Column` of text, which Polars, pyarrow and DuckDB read without a copy: `polars.Series(column)`. Iteration and
///     `tolist()` give str.
///
/// Raises:
///     ArgumentError: If k is out of range, or if an integer has more than k bases.
///
/// >>> import merganser
/// >>> merganser.decode_kmers([27, 255], k=4).tolist()
/// ['ACGT', 'TTTT']
#[pyfunction]
pub(crate) fn decode_kmers(py: Python<'_>, kmers: &Bound<'_, PyAny>, k: Int) -> PyResult<Column> {
    let k: usize = k.within(py, "k", 1..=MAX_K as i64)?;
    let is_arrow = kmers.getattr("__array_interface__").is_err() && arrow::is_arrow(kmers)?;
    let codes = match Words::of("kmers", kmers)? {
        Some(words) => Codes::Numpy(words),
        None if is_arrow => match arrow::words(py, "kmers", &arrow::arrays("kmers", kmers)?)? {
            Some(words) => Codes::Own(words),
            None => return Err(mistyped("kmers", "the array has no integers")),
        },
        None => Codes::Own(words_of(kmers)?),
    };
    let words = codes.as_slice();
    let text = py.detach(|| letters_of(words, k));
    let text = text.map_err(|at| {
        let problem = format!("k-mer {}: {} has more than {k} bases", at + 1, words[at]);
        wrong(py, "kmers", problem)
    })?;
    Ok(Column(text))
}

/// k-mers as integers.
pub(crate) enum Codes<'py> {
    Numpy(Words<'py>),
    Own(Vec<u64>),
}

impl Codes<'_> {
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Codes::Numpy(words) => words.as_slice(),
            Codes::Own(words) => words,
        }
    }
}

/// k-mers in either form.
pub(crate) enum Kmers<'py> {
    Codes(Codes<'py>),
    Letters(Letters),
}

impl<'py> Kmers<'py> {
    /// Returns the k-mers of the argument `kmers`: an array, or an iterable. Letters must have `k` letters, or as many as
    /// the first k-mer.
    pub(crate) fn of(kmers: &Bound<'py, PyAny>, k: Option<usize>) -> PyResult<Kmers<'py>> {
        if let Some(words) = Words::of("kmers", kmers)? {
            return Ok(Kmers::Codes(Codes::Numpy(words)));
        }
        if kmers.getattr("__array_interface__").is_err() && arrow::is_arrow(kmers)? {
            let arrays = arrow::arrays("kmers", kmers)?;
            return match arrow::words(kmers.py(), "kmers", &arrays)? {
                Some(words) => Ok(Kmers::Codes(Codes::Own(words))),
                None => Letters::of_arrays(kmers.py(), &arrays, k).map(Kmers::Letters),
            };
        }
        let is_text = kmers.is_instance_of::<PyString>() || kmers.is_instance_of::<PyBytes>();
        let first = kmers.get_item(0).ok().filter(|_| !is_text);
        match first.is_some_and(|first| first.is_instance_of::<PyInt>()) {
            true => Ok(Kmers::Codes(Codes::Own(words_of(kmers)?))),
            false => Letters::of(kmers, k).map(Kmers::Letters),
        }
    }
}

/// Returns the integers of an iterable.
fn words_of(kmers: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    kmers.try_iter()?.map(|kmer| word(&kmer?)).collect()
}

/// Returns the 64 bits of a k-mer in an item of `kmers`.
fn word(item: &Bound<'_, PyAny>) -> PyResult<u64> {
    item.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(item.py()) {
            true => wrong(item.py(), "kmers", format!("{item} is not an integer of 64 bits")),
            false => mistyped("kmers", format!("{item} is not an int")),
        }
    })
}

/// Returns the letters of k-mers; the error is the position of one that has more than `k` bases.
fn letters_of(words: &[u64], k: usize) -> Result<ArrayRef, usize> {
    if let Some(at) = words.iter().position(|word| k < MAX_K && word >> (2 * k) != 0) {
        return Err(at);
    }
    let mut letters = Vec::with_capacity(k);
    let mut texts = StringBuilder::with_capacity(words.len(), words.len() * k);
    for word in words {
        letters.clear();
        word.write_letters(k, &mut letters);
        texts.append_value(String::from_utf8_lossy(&letters));
    }
    Ok(Arc::new(texts.finish()))
}
