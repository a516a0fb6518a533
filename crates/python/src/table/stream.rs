//! The k-mers of a table in batches that a thread makes ahead of the consumer.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use merganser::kmers::Error;
use merganser::run::locks::lock;
use merganser::seq::kmer::Kmer;
use merganser::seq::with_kmer;
use pyo3::prelude::*;

use super::Opened;
use crate::arrow::Batch;
use crate::errors::{raise, wrong};

/// The maximum number of batches that wait for the consumer.
const AHEAD: usize = 2;

/// The representation of k-mers.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Words,
}

/// An iterator of `Batch` with the k-mers of a table.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Mutex<Receiver<Result<RecordBatch, Error>>>,
}

impl Batches {
    /// Starts making batches of up to `size` k-mers.
    pub(crate) fn start(
        py: Python<'_>,
        opened: &Arc<Opened>,
        size: usize,
        kmers: &str,
    ) -> PyResult<Batches> {
        let k = opened.header.k;
        let form = match kmers {
            "str" => Form::Text,
            "int" if k <= 64 => Form::Words,
            "int" => {
                return Err(wrong(
                    py,
                    format!("kmers: k is {k}, and integers hold up to 64 bases: give 'str'"),
                ));
            }
            other => return Err(wrong(py, format!("kmers: '{other}' is neither 'str' nor 'int'"))),
        };
        if size == 0 {
            return Err(wrong(py, "size: give 1 or more"));
        }
        let schema = schema(form, k);
        let (sender, batches) = sync_channel(AHEAD);
        let (opened, own) = (Arc::clone(opened), Arc::clone(&schema));
        std::thread::Builder::new().name("merganser-batches".into()).spawn(move || {
            let made = with_kmer!(k, K => make::<K>(&opened, form, size, &own, &sender));
            if let Err(error) = made {
                // Fails if the receiver has been dropped.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Batches { schema, batches: Mutex::new(batches) })
    }

    /// Converts the iterator to a reader for Arrow.
    pub(crate) fn into_reader(self) -> Reader {
        let batches = self.batches.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Reader { schema: self.schema, batches }
    }
}

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        match py.detach(|| lock(&self.batches).recv()) {
            Ok(Ok(batch)) => Ok(Some(Batch(batch))),
            Ok(Err(error)) => Err(raise(py, &error)),
            Err(_) => Ok(None),
        }
    }
}

/// The batches as a reader for Arrow.
pub(crate) struct Reader {
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch, Error>>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.recv().ok()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn schema(form: Form, k: usize) -> SchemaRef {
    let kmers = match (form, k) {
        (Form::Text, _) => vec![Field::new("kmer", DataType::Utf8, false)],
        (Form::Words, ..=32) => vec![Field::new("kmer", DataType::UInt64, false)],
        (Form::Words, _) => vec![
            Field::new("kmer_high", DataType::UInt64, false),
            Field::new("kmer_low", DataType::UInt64, false),
        ],
    };
    let count = Field::new("count", DataType::UInt32, false);
    Arc::new(Schema::new(kmers.into_iter().chain([count]).collect::<Vec<_>>()))
}

/// Sends all batches; returns early if the receiver has been dropped.
fn make<K: Kmer>(
    opened: &Opened,
    form: Form,
    size: usize,
    schema: &SchemaRef,
    sender: &SyncSender<Result<RecordBatch, Error>>,
) -> Result<(), Error> {
    let Some(table) = opened.table.as_mgk() else { return Ok(()) };
    let (k, mut waiting) = (opened.header.k, Vec::with_capacity(size));
    let mut blocks = table.blocks::<K>();
    loop {
        let block = blocks.next()?;
        let is_last = block.is_none();
        let mut left = block.unwrap_or_default();
        loop {
            let (now, later) = left.split_at(left.len().min(size - waiting.len()));
            waiting.extend_from_slice(now);
            left = later;
            let is_full = waiting.len() == size || (is_last && !waiting.is_empty());
            if is_full {
                let batch = batch(&waiting, form, k, schema);
                waiting.clear();
                if sender.send(batch).is_err() {
                    return Ok(());
                }
            }
            if left.is_empty() {
                break;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

fn batch<K: Kmer>(
    kmers: &[(K, u32)],
    form: Form,
    k: usize,
    schema: &SchemaRef,
) -> Result<RecordBatch, Error> {
    let words = |shift: u32| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(kmers.iter().map(|(kmer, _)| kmer.shr(shift).low())))
    };
    let mut columns: Vec<ArrayRef> = match (form, k) {
        (Form::Text, _) => {
            let mut letters = Vec::with_capacity(k);
            let mut texts = StringBuilder::with_capacity(kmers.len(), kmers.len() * k);
            for (kmer, _) in kmers {
                letters.clear();
                kmer.write_letters(k, &mut letters);
                texts.append_value(String::from_utf8_lossy(&letters));
            }
            vec![Arc::new(texts.finish())]
        }
        (Form::Words, ..=32) => vec![words(0)],
        (Form::Words, _) => vec![words(64), words(0)],
    };
    columns.push(Arc::new(UInt32Array::from_iter_values(kmers.iter().map(|(_, count)| *count))));
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|error| Error::Output(std::io::Error::other(error.to_string())))
}
