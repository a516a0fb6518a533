//! All rows of a stream.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow;

/// All rows of a stream, for the import into a library.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Collected {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

impl Collected {
    /// Returns the rows as one batch.
    ///
    /// # Errors
    /// If a column has too much text for one array.
    pub(super) fn joined(&self) -> PyResult<RecordBatch> {
        let (schema, batches) = (&self.schema, &self.batches);
        match &batches[..] {
            [] => return Ok(RecordBatch::new_empty(Arc::clone(schema))),
            [one] => return Ok(one.clone()),
            _ => {}
        }
        let columns = (0..schema.fields().len()).map(|at| {
            let parts: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(at)).collect();
            joined_column(schema.field(at).name(), &parts)
        });
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(schema), columns).map_err(arrow::failed)
    }
}

#[pymethods]
impl Collected {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        arrow::stream_capsule(
            py,
            Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))),
        )
    }
}

fn joined_column(name: &str, parts: &[&ArrayRef]) -> PyResult<ArrayRef> {
    let data: Vec<_> = parts.iter().map(|part| part.to_data()).collect();
    let rows = parts.iter().map(|part| part.len()).sum();
    let mut all = MutableArrayData::new(data.iter().collect(), false, rows);
    for (number, part) in parts.iter().enumerate() {
        all.try_extend(number, 0, part.len()).map_err(|_| {
            PyValueError::new_err(format!(
                "column {name}: more than 2 GiB of text: iterate over the stream, or use to_polars or to_arrow"
            ))
        })?;
    }
    Ok(make_array(all.freeze()))
}
