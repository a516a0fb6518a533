//! The k-mers of a table as a stream of rows.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use merganser_kmers::Error;
use merganser_run::{Cancel, Warnings};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;
use pyo3::prelude::*;

use super::opened::Opened;
use crate::errors::wrong;
use crate::stream::{RowSender, RowStream};

/// The representation of k-mers.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Words,
}

/// Starts making batches of up to `size` k-mers, in the form `kmers`: "str" or "int".
pub(super) fn start(
    py: Python<'_>,
    opened: &Arc<Opened>,
    size: usize,
    kmers: &str,
) -> PyResult<RowStream> {
    let k = opened.header.k;
    let form = match kmers {
        "str" => Form::Text,
        "int" if k <= 64 => Form::Words,
        "int" => {
            let problem = format!("k is {k}, and integers hold up to 64 bases: give 'str'");
            return Err(wrong(py, "kmers", problem));
        }
        other => return Err(wrong(py, "kmers", format!("'{other}' is neither 'str' nor 'int'"))),
    };
    let schema = schema(form, k);
    let (opened, own, cancel) = (Arc::clone(opened), Arc::clone(&schema), Cancel::default());
    let make =
        move |sender: &RowSender| with_kmer!(k, K => make::<K>(&opened, form, size, &own, sender));
    RowStream::start(schema, "merganser-table", Warnings::default(), cancel, make)
}

/// Returns the columns of a table with k-mers as text.
pub(super) fn schema_of_text(k: usize) -> SchemaRef {
    schema(Form::Text, k)
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

/// Sends all batches; returns early if the consumer has dropped the stream.
fn make<K: Kmer>(
    opened: &Opened,
    form: Form,
    size: usize,
    schema: &SchemaRef,
    sender: &RowSender,
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
                let batch = batch(&waiting, form, k, schema)?;
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
