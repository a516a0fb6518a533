//! `merganser.filter`.

use std::fmt;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use merganser_filter::{Config, Error, Filter, PairBatch, Scratch};
use merganser_run::{
    Cancelled, Context, Fault, FaultKind, StartError, Unit, counted, each_in_order,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::column::Column;
use crate::errors::{Cause, Class, Failure, OrRaise, wrong};
use crate::keywords::{Keywords, edits};
use crate::sequences::sequences;

/// The number of pairs that a thread decides at a time.
const AT_ONCE: usize = 4096;

/// Decides which pairs of a read and a segment have at most `e` edits.
///
/// Args:
///     reads: A NumPy array (dtype "S", or uint8 with one row per read), Arrow strings (a Polars Series, a pyarrow
///         array), or an iterable of bytes. Letters are not copied.
///     segments: The segments, one for each read.
///     e: The maximum number of edits: an int, or per cent of the read's length as a text, such as "4%".
///     method: "exact" (the edit distance); the estimates "gatekeeper" and "snake", which reject no pair within `e`
///         edits; or "gatekeeper-original".
///     n_mode: The treatment of letters other than A C G T U: "mismatch", "match", or "pass" (such pairs are
///         accepted).
///     align: "global", or "semiglobal": gaps before and after the read are free.
///     threads: The number of threads; None for one per processor.
///     progress: As for `count`.
///
/// Returns:
///     A NumPy array of int32 with the edits of each pair; `merganser.REJECTED` (-1) if there are more than `e`;
///     `merganser.UNDEFINED` (-2) if the pair was passed.
///
/// Raises:
///     ArgumentError: If the numbers of reads and segments differ, or if `e` or a name is unknown.
///     InputError: If a pair has a byte that is not a letter of DNA; it has `record`, the number of the pair from 1.
///
/// >>> import merganser
/// >>> merganser.filter([b"ACGTACGT", b"ACGTACGT"], [b"ACGAACGT", b"TTTTTTTT"], e=2).tolist()
/// [1, -1]
#[pyfunction]
#[pyo3(
    signature = (reads, segments, e, **options),
    text_signature = "(reads, segments, e, *, method='exact', n_mode='mismatch', align='global', threads=None, progress=None)"
)]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    reads: &Bound<'py, PyAny>,
    segments: &Bound<'py, PyAny>,
    e: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = Keywords::new(py, "filter", options)?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let config = Config {
        method: keywords.named("method")?.unwrap_or_default(),
        n_mode: keywords.named("n_mode")?.unwrap_or_default(),
        align: keywords.named("align")?.unwrap_or_default(),
        ..Config::new(edits("e", e)?)
    };
    keywords.finish()?;
    let filter = Filter::new(config).or_raise(py)?;
    let (reads, segments) = (sequences("reads", reads)?, sequences("segments", segments)?);
    let (reads, segments) = (reads.slices()?, segments.slices()?);
    if reads.len() != segments.len() {
        let reads = counted(reads.len() as u64, "read");
        let message = format!("{} for {reads}: give one per read", segments.len());
        return Err(wrong(py, "segments", message));
    }
    let decisions = call::run(py, &context, progress.as_ref(), |context| {
        decide(&filter, &reads, &segments, context)
    })?;
    Column(Arc::new(Int32Array::from(decisions)) as ArrayRef).shown(py)
}

/// Decides all pairs.
fn decide(
    filter: &Filter,
    reads: &[&[u8]],
    segments: &[&[u8]],
    context: &Context,
) -> Result<Vec<i32>, PairError> {
    let progress = &*context.progress;
    let parts = 0..reads.len().div_ceil(AT_ONCE);
    progress.stage("filtering pairs", Unit::Steps, Some(reads.len() as u64));
    let begin = || (PairBatch::new(), Scratch::default());
    let done =
        each_in_order(context.threads, parts, &context.cancel, begin, |(batch, scratch), part| {
            batch.clear();
            let pairs = part * AT_ONCE..reads.len().min((part + 1) * AT_ONCE);
            for pair in pairs.clone() {
                batch
                    .push(reads[pair], segments[pair])
                    .map_err(|error| PairError::of(pair, error))?;
            }
            let mut decisions = Vec::new();
            filter.run_codes(batch, scratch, &mut decisions);
            progress.advance(pairs.len() as u64);
            Ok::<_, PairError>(decisions)
        })?;
    progress.finish();
    Ok(done.concat())
}

/// An error of a pair, which has a number from 1, or of the whole run.
#[derive(Debug)]
struct PairError {
    pair: Option<u64>,
    error: Box<Error>,
}

impl PairError {
    /// Returns the error of the pair with this position, from 0.
    fn of(pair: usize, error: Error) -> PairError {
        PairError { pair: Some(pair as u64 + 1), error: Box::new(error) }
    }
}

impl From<Cancelled> for PairError {
    fn from(error: Cancelled) -> PairError {
        PairError { pair: None, error: Box::new(error.into()) }
    }
}

impl From<StartError> for PairError {
    fn from(error: StartError) -> PairError {
        PairError { pair: None, error: Box::new(error.into()) }
    }
}

impl fmt::Display for PairError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pair {
            Some(pair) => write!(formatter, "pair {pair}: {}", self.error),
            None => self.error.fmt(formatter),
        }
    }
}

impl std::error::Error for PairError {}

impl Fault for PairError {
    fn kind(&self) -> FaultKind {
        self.error.kind()
    }
}

impl Failure for PairError {
    fn origin(&self) -> Cause {
        match self.pair {
            Some(pair) => Cause::of(Class::Input).at(pair),
            None => self.error.origin(),
        }
    }
}
