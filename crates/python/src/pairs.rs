//! `merganser.filter`.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use merganser::filter::{Config, Error, Filter, PairBatch, Scratch, Threshold};
use merganser::run::{Cancel, Resources, each_in_order};
use pyo3::prelude::*;

use crate::arrow::{self, Column};
use crate::errors::{OrRaise, wrong};
use crate::numpy::Rows;
use crate::options::named;

/// The number of pairs that a thread decides at a time.
const AT_ONCE: usize = 4096;

/// Sequences in the form in which they were passed.
enum Sequences<'py> {
    Arrow(Vec<ArrayRef>),
    Numpy(Rows<'py>),
    Python(Vec<Vec<u8>>),
}

impl<'py> Sequences<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Sequences<'py>> {
        if let Some(rows) = Rows::of(object)? {
            return Ok(Sequences::Numpy(rows));
        }
        if arrow::is_arrow(object)? {
            return Ok(Sequences::Arrow(arrow::arrays(object)?));
        }
        let own = |item: PyResult<Bound<'py, PyAny>>| {
            crate::sequences::with_letters(&item?, |letters| Ok(letters.to_vec()))
        };
        Ok(Sequences::Python(object.try_iter()?.map(own).collect::<PyResult<_>>()?))
    }

    fn slices(&self) -> PyResult<Vec<&[u8]>> {
        Ok(match self {
            Sequences::Numpy(rows) => rows.slices(),
            Sequences::Python(all) => all.iter().map(Vec::as_slice).collect(),
            Sequences::Arrow(arrays) => {
                let mut all = Vec::new();
                for array in arrays {
                    all.extend(arrow::texts(array)?.into_iter().map(Option::unwrap_or_default));
                }
                all
            }
        })
    }
}

/// Decides which pairs of a read and a segment have at most `threshold` edits.
///
/// Args:
///     reads: A NumPy array of bytes (dtype "S", or uint8 with one row per read), Arrow strings, or an iterable of
///         str and bytes. Arrays are not copied.
///     segments: The segments, one for each read.
///     threshold: The maximum number of edits.
///     method: "exact" (the edit distance); the estimates "gatekeeper" and "snake", which reject no pair within
///         `threshold` edits; or "gatekeeper-original".
///     n_mode: The treatment of letters other than A C G T U: "mismatch", "match", or "pass" (such pairs are
///         accepted).
///     align: "global", or "semiglobal": gaps before and after the read are free.
///     threads: The number of threads; None for one per processor.
///
/// Returns:
///     A NumPy array of int32 with the edits of each pair; -1 if there are more than `threshold`; -2 if the pair was
///     passed.
///
/// Raises:
///     ConfigError: If the numbers of reads and segments differ, or if a pair has a byte that is not a letter of DNA.
///
/// >>> import merganser
/// >>> merganser.filter(["ACGTACGT", "ACGTACGT"], ["ACGAACGT", "TTTTTTTT"], threshold=2).tolist()
/// [1, -1]
#[pyfunction]
#[pyo3(signature = (reads, segments, threshold, *, method="exact", n_mode="mismatch", align="global", threads=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    reads: &Bound<'py, PyAny>,
    segments: &Bound<'py, PyAny>,
    threshold: u32,
    method: &str,
    n_mode: &str,
    align: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let config = Config {
        method: named(py, "method", method)?,
        n_mode: named(py, "n_mode", n_mode)?,
        align: named(py, "align", align)?,
        ..Config::new(Threshold::Edits(threshold))
    };
    let filter = Filter::new(config).or_raise(py)?;
    let (reads, segments) = (Sequences::of(reads)?, Sequences::of(segments)?);
    let (reads, segments) = (reads.slices()?, segments.slices()?);
    if reads.len() != segments.len() {
        let (reads, segments) = (reads.len(), segments.len());
        return Err(wrong(
            py,
            format!("{reads} reads and {segments} segments: give one segment per read"),
        ));
    }
    let threads = threads.unwrap_or_else(|| Resources::new().threads).max(1);
    let decisions = py.detach(|| decide(&filter, &reads, &segments, threads));
    let decisions =
        decisions.map_err(|(pair, error)| wrong(py, format!("pair {}: {error}", pair + 1)))?;
    Column(Arc::new(Int32Array::from(decisions)) as ArrayRef).shown(py)
}

/// Decides all pairs. The error is the number of the invalid pair, from 0, and its problem.
fn decide(
    filter: &Filter,
    reads: &[&[u8]],
    segments: &[&[u8]],
    threads: usize,
) -> Result<Vec<i32>, (usize, Error)> {
    let parts = 0..reads.len().div_ceil(AT_ONCE);
    let begin = || (PairBatch::new(), Scratch::default());
    let done =
        each_in_order(threads, parts, &Cancel::default(), begin, |(batch, scratch), part| {
            batch.clear();
            for pair in part * AT_ONCE..reads.len().min((part + 1) * AT_ONCE) {
                batch
                    .push(reads[pair], segments[pair])
                    .map_err(|error| Wrong(Some((pair, error))))?;
            }
            let mut decisions = Vec::new();
            filter.run_into(batch, scratch, &mut decisions);
            Ok::<_, Wrong>(decisions)
        });
    let done = done.map_err(|wrong| {
        wrong.0.unwrap_or((0, Error::Output(std::io::Error::other("cannot start a thread"))))
    })?;
    Ok(done.concat())
}

/// The error of a pair, or `None` if a thread could not be started.
struct Wrong(Option<(usize, Error)>);

/// Never used, as the run cannot be cancelled.
impl From<merganser::run::Cancelled> for Wrong {
    fn from(_: merganser::run::Cancelled) -> Wrong {
        Wrong(None)
    }
}

impl From<merganser::run::StartError> for Wrong {
    fn from(_: merganser::run::StartError) -> Wrong {
        Wrong(None)
    }
}
