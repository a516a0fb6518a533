//! Streams of rows, which a thread makes ahead of the consumer.

mod collected;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use merganser_run::locks::lock;
use merganser_run::{Cancel, Warnings};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::arrow;
use crate::call::{self, Watch};
use crate::errors::{Failure, panicked, raise};
use crate::rows::{self, Rows};
use collected::Collected;

/// The maximum number of batches that wait for the consumer.
const AHEAD: usize = 2;
/// The polling interval for signals.
const TURN: Duration = Duration::from_millis(50);

/// The reason why a stream ended early.
enum Ended {
    Failed(Box<dyn Failure>),
    Panicked,
}

impl Ended {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Ended::Failed(error) => raise(py, &**error),
            Ended::Panicked => panicked(py),
        }
    }
}

type Item = Result<RecordBatch, Ended>;

/// The sender of rows to a stream.
#[derive(Clone)]
pub(crate) struct RowSender(SyncSender<Item>);

impl RowSender {
    /// Sends rows; waits while the consumer is behind.
    ///
    /// # Errors
    /// A broken pipe if the consumer has dropped the stream.
    pub(crate) fn send(&self, rows: RecordBatch) -> io::Result<()> {
        self.0.send(Ok(rows)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

/// The rows of a run that have not been consumed. Dropping it ends the run.
struct Source {
    items: Receiver<Item>,
    warnings: Warnings,
    cancel: Cancel,
    is_at_end: bool,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The answer to a request for rows.
enum Step {
    Rows(RecordBatch),
    /// No rows arrived in time.
    Waiting,
    Ended(Ended),
    /// The end has been reached now.
    End(Warnings),
    /// The end was reached before.
    Past,
}

impl Source {
    /// Returns the next step; waits at most [`TURN`] if `is_timed`.
    fn step(&mut self, is_timed: bool) -> Step {
        if self.is_at_end {
            return Step::Past;
        }
        let item = match is_timed {
            true => self.items.recv_timeout(TURN),
            false => self.items.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match item {
            Ok(Ok(rows)) => Step::Rows(rows),
            Ok(Err(ended)) => {
                self.is_at_end = true;
                Step::Ended(ended)
            }
            Err(RecvTimeoutError::Timeout) => Step::Waiting,
            Err(RecvTimeoutError::Disconnected) => {
                self.is_at_end = true;
                Step::End(self.warnings.clone())
            }
        }
    }
}

/// An iterator of `Rows`, which are made while earlier ones are consumed. Rows can be consumed once: by iteration, by
/// `read_all` or a `to_` method, or by Polars, pyarrow and DuckDB (which reads them again at each call of a relation:
/// give it `read_all()` instead). Reading the schema consumes no rows. Deleting the stream ends its run.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct RowStream {
    schema: SchemaRef,
    source: Arc<Mutex<Source>>,
    watch: Option<Arc<Watch>>,
}

impl RowStream {
    /// Starts a thread with this name that makes rows with `make`, which should end soon after `cancel`.
    ///
    /// When the last row has been consumed, the messages in `warnings` are issued as Python warnings.
    pub(crate) fn start<E: Failure>(
        schema: SchemaRef,
        name: &str,
        warnings: Warnings,
        cancel: Cancel,
        make: impl FnOnce(&RowSender) -> Result<(), E> + Send + 'static,
    ) -> PyResult<RowStream> {
        let (sender, items) = sync_channel(AHEAD);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let sender = RowSender(sender);
            let ended = match catch_unwind(AssertUnwindSafe(|| make(&sender))) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => Ended::Failed(Box::new(error)),
                Err(_) => Ended::Panicked,
            };
            // Fails if the receiver has been dropped.
            let _ = sender.0.send(Err(ended));
        })?;
        let source = Source { items, warnings, cancel, is_at_end: false };
        Ok(RowStream { schema, source: Arc::new(Mutex::new(source)), watch: None })
    }

    /// Passes the progress of the run to a callback while rows are consumed. An exception of it ends the run.
    pub(crate) fn watched(self, watch: Option<Watch>) -> RowStream {
        RowStream { watch: watch.map(Arc::new), ..self }
    }

    /// Returns the next rows, `None` at the end; checks for signals while it waits. At the end, the warnings of the
    /// run are issued.
    pub(crate) fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            let step = py.detach(|| lock(&self.source).step(true));
            tell(py, self.watch.as_deref(), &self.source, &step)?;
            match step {
                Step::Rows(rows) => return Ok(Some(rows)),
                Step::Waiting => py.check_signals()?,
                Step::Ended(ended) => return Err(ended.raise(py)),
                Step::End(warnings) => return call::warn(py, &warnings).map(|()| None),
                Step::Past => return Ok(None),
            }
        }
    }

    /// Returns a reader of the remaining rows.
    fn reader(&self, py: Python<'_>) -> PyResult<Reader> {
        if py.detach(|| lock(&self.source).is_at_end) {
            return Err(PyRuntimeError::new_err(
                "the rows of this stream were read before: make the stream again, or keep read_all()",
            ));
        }
        let (schema, source) = (Arc::clone(&self.schema), Arc::clone(&self.source));
        Ok(Reader { schema, source, watch: self.watch.clone() })
    }

    /// Returns a capsule with the remaining rows. They are consumed when they are read from it.
    pub(crate) fn capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::stream_capsule(py, Box::new(self.reader(py)?))
    }

    /// Returns all remaining rows; checks for signals while it waits.
    pub(crate) fn collected(&self, py: Python<'_>) -> PyResult<Collected> {
        self.reader(py)?;
        let mut batches = Vec::new();
        while let Some(rows) = self.next(py)? {
            batches.push(rows);
        }
        Ok(Collected { schema: Arc::clone(&self.schema), batches })
    }

    /// Returns the names of the columns.
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}

#[pymethods]
impl RowStream {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Rows>> {
        Ok(self.next(py)?.map(Rows))
    }

    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// Returns all remaining rows.
    ///
    /// Raises:
    ///     RuntimeError: If the rows were read before.
    ///     ValueError: If a column has more than 2 GiB of text.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.batches(size=1).read_all()["count"].tolist()
    /// [1, 2, 1]
    fn read_all(&self, py: Python<'_>) -> PyResult<Rows> {
        let all = self.collected(py)?;
        py.detach(|| all.joined()).map(Rows)
    }

    /// Returns the remaining rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.batches().to_pandas().shape
    /// (3, 2)
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_pandas(Bound::new(this.py(), this.get().collected(this.py())?)?.as_any())
    }

    /// Returns the remaining rows as a `polars.DataFrame`. Needs the package polars.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.batches().to_polars().shape
    /// (3, 2)
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_polars(Bound::new(this.py(), this.get().collected(this.py())?)?.as_any())
    }

    /// Returns the remaining rows as a `pyarrow.Table`. Needs the package pyarrow.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.batches().to_arrow().shape
    /// (3, 2)
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        rows::to_arrow(Bound::new(this.py(), this.get().collected(this.py())?)?.as_any())
    }

    /// Refuses the conversion to a NumPy array, which `pandas.DataFrame(stream)` tries: the rows would become cells.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a stream of rows cannot become one array: use to_pandas(), or read_all() and a column",
        ))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        self.capsule(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        format!("<merganser.RowStream of {}>", self.names().join(", "))
    }
}

/// Passes the progress of a run to its callback. An exception of it ends the run.
fn tell(
    py: Python<'_>,
    watch: Option<&Watch>,
    source: &Mutex<Source>,
    step: &Step,
) -> PyResult<()> {
    let Some(watch) = watch else { return Ok(()) };
    let told = match step {
        Step::Rows(_) | Step::Waiting => watch.tell(py),
        Step::Ended(_) | Step::End(_) => watch.close(py),
        Step::Past => Ok(()),
    };
    if told.is_err() {
        py.detach(|| lock(source).cancel.cancel());
    }
    told
}

/// A reader of the rows of a stream, for Arrow.
struct Reader {
    schema: SchemaRef,
    source: Arc<Mutex<Source>>,
    watch: Option<Arc<Watch>>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The lock is released before the interpreter is needed.
        let step = lock(&self.source).step(false);
        let watch = self.watch.as_deref();
        if watch.is_some()
            && let Err(error) = Python::attach(|py| tell(py, watch, &self.source, &step))
        {
            return Some(Err(ArrowError::ExternalError(Box::new(error))));
        }
        let error = match step {
            Step::Rows(rows) => return Some(Ok(rows)),
            Step::Waiting | Step::Past => return None,
            Step::Ended(ended) => Python::attach(|py| ended.raise(py)),
            Step::End(warnings) => Python::attach(|py| call::warn(py, &warnings)).err()?,
        };
        Some(Err(ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
