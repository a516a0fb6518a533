//! Converts lines of classified reads to rows, in batches that a thread makes ahead of the consumer.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, LazyLock, Mutex};

use arrow_array::builder::{StringBuilder, UInt32Builder};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use merganser::classify::{Database, Error};
use merganser::run::locks::lock;
use merganser::run::{Cancel, Warnings};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{self, Batch};
use crate::call;
use crate::errors::raise;

/// The maximum number of batches that wait for the consumer.
pub(super) const AHEAD: usize = 2;
/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("read", DataType::Utf8, false),
        Field::new("taxid", DataType::UInt32, false),
        Field::new("name", DataType::Utf8, true),
        Field::new("length", DataType::Utf8, false),
    ]))
});

/// A writer of lines that sends them as rows.
pub(super) struct Lines<'d> {
    database: &'d Database,
    sender: SyncSender<Result<RecordBatch, Error>>,
    /// The start of an incomplete line.
    open: Vec<u8>,
    reads: StringBuilder,
    taxids: UInt32Builder,
    names: StringBuilder,
    lengths: StringBuilder,
    rows: usize,
}

impl<'d> Lines<'d> {
    pub(super) fn new(
        database: &'d Database,
        sender: SyncSender<Result<RecordBatch, Error>>,
    ) -> Lines<'d> {
        let text = StringBuilder::new;
        Lines {
            database,
            sender,
            open: Vec::new(),
            reads: text(),
            taxids: UInt32Builder::new(),
            names: text(),
            lengths: text(),
            rows: 0,
        }
    }

    /// Sends the remaining rows.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.rows > 0 { self.send() } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        // The fields are C or U, name, taxid, length, hits.
        let mut fields = line.split(|&byte| byte == b'\t');
        let mut field = || String::from_utf8_lossy(fields.next().unwrap_or_default());
        let (_, read, taxid, length) = (field(), field(), field(), field());
        let taxid: u32 = taxid.parse().map_err(|_| io::Error::other("a line without a taxid"))?;
        self.reads.append_value(read);
        self.taxids.append_value(taxid);
        let tree = self.database.taxonomy();
        self.names
            .append_option(tree.node(taxid).filter(|_| taxid > 0).map(|node| tree.name(node)));
        self.lengths.append_value(length);
        self.rows += 1;
        if self.rows == ROWS { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        self.rows = 0;
        let batch = RecordBatch::try_new(
            Arc::clone(&SCHEMA),
            vec![
                Arc::new(self.reads.finish()),
                Arc::new(self.taxids.finish()),
                Arc::new(self.names.finish()),
                Arc::new(self.lengths.finish()),
            ],
        );
        let batch = batch.map_err(|error| io::Error::other(error.to_string()))?;
        // The send fails if the consumer has dropped the receiver.
        self.sender.send(Ok(batch)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while let Some(end) = left.iter().position(|&byte| byte == b'\n') {
            if self.open.is_empty() {
                self.line(&left[..end])?;
            } else {
                let mut whole = std::mem::take(&mut self.open);
                whole.extend_from_slice(&left[..end]);
                self.line(&whole)?;
            }
            left = &left[end + 1..];
        }
        self.open.extend_from_slice(left);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An iterator of `Batch` with classified reads, which can also be exported as an Arrow stream. It can be consumed
/// once.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Taken(Mutex<Option<Rows>>);

/// The receiver of rows. Dropping it ends the run.
struct Rows {
    batches: Receiver<Result<RecordBatch, Error>>,
    warnings: Warnings,
    cancel: Cancel,
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Taken {
    /// Returns the rows of a run. When the last row has been consumed, the warnings of the run are issued.
    pub(super) fn new(
        batches: Receiver<Result<RecordBatch, Error>>,
        warnings: Warnings,
        cancel: Cancel,
    ) -> Taken {
        Taken(Mutex::new(Some(Rows { batches, warnings, cancel })))
    }
}

#[pymethods]
impl Taken {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| lock(&self.0).as_ref().and_then(|rows| rows.batches.recv().ok()));
        match next {
            Some(Ok(batch)) => Ok(Some(Batch(batch))),
            Some(Err(error)) => Err(raise(py, &error)),
            None => {
                let warnings = lock(&self.0).as_ref().map(|rows| rows.warnings.clone());
                call::warn(py, &warnings.unwrap_or_default())?;
                Ok(None)
            }
        }
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let Some(rows) = py.detach(|| lock(&self.0).take()) else {
            return Err(PyRuntimeError::new_err(
                "these rows were read before: call classify again",
            ));
        };
        arrow::stream_capsule(py, Box::new(rows))
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Ok(batch) = self.batches.recv() else {
            return match Python::attach(|py| call::warn(py, &self.warnings)) {
                Ok(()) => None,
                Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
            };
        };
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&SCHEMA)
    }
}
