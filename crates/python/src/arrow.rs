//! Arrow's C data interface in capsules (the PyCapsule interface): exports results, imports strings and numbers.

#![allow(unsafe_code, reason = "Arrow's C interface passes pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{Float64Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns a capsule with an Arrow stream.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Returns capsules with the type of an array and the array.
fn array_capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(failed)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Rows with named columns. `__arrow_c_array__` and `__arrow_c_stream__` export them to Polars, pyarrow, DuckDB and
/// pandas without a copy; `batch[name]` is a column: numbers as a NumPy array (a view), text as a list.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Batch(pub(crate) RecordBatch);

impl Batch {
    pub(crate) fn of(schema: SchemaRef, columns: Vec<ArrayRef>) -> PyResult<Batch> {
        RecordBatch::try_new(schema, columns).map(Batch).map_err(failed)
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns a column by its name: numbers as a NumPy array if NumPy is installed, text as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column =
            self.0.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Column(Arc::clone(column)).shown(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        array_capsules(py, &StructArray::from(self.0.clone()))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let one = std::iter::once(Ok(self.0.clone()));
        stream_capsule(py, Box::new(arrow_array::RecordBatchIterator::new(one, self.0.schema())))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    fn __repr__(&self) -> String {
        format!(
            "<merganser.Batch of {} rows: {}>",
            self.0.num_rows(),
            self.column_names().join(", ")
        )
    }
}

/// A column of numbers for Arrow and NumPy, without a copy. Methods return it instead of a NumPy array if NumPy is
/// not installed.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Column(pub(crate) ArrayRef);

impl Column {
    /// Returns a NumPy array of numbers, or `self` if NumPy is not installed; for text, a list.
    pub(crate) fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self.0.data_type() {
            DataType::Utf8 => {
                let texts: Vec<Option<&str>> = self.0.as_string::<i32>().iter().collect();
                Ok(texts.into_pyobject(py)?.into_any())
            }
            DataType::Boolean => {
                let values: Vec<Option<bool>> = self.0.as_boolean().iter().collect();
                Ok(values.into_pyobject(py)?.into_any())
            }
            _ => {
                let column = Bound::new(py, self)?.into_any();
                match py.import("numpy") {
                    Ok(numpy) => numpy.call_method1("asarray", (column,)),
                    Err(_) => Ok(column),
                }
            }
        }
    }

    /// Returns NumPy's name of the type.
    fn numpy_type(&self) -> PyResult<&'static str> {
        Ok(match self.0.data_type() {
            DataType::Int32 => "<i4",
            DataType::UInt32 => "<u4",
            DataType::UInt64 => "<u8",
            DataType::Float64 => "<f8",
            other => return Err(PyTypeError::new_err(format!("NumPy has no view of {other}"))),
        })
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the numbers as a list.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.0.data_type() {
            DataType::Int32 => PyList::new(py, self.0.as_primitive::<Int32Type>().values()),
            DataType::UInt32 => PyList::new(py, self.0.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => PyList::new(py, self.0.as_primitive::<UInt64Type>().values()),
            DataType::Float64 => PyList::new(py, self.0.as_primitive::<Float64Type>().values()),
            other => Err(PyTypeError::new_err(format!("a column of {other} cannot become a list"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tolist(py)?.try_iter()
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let data = self.0.to_data();
        let buffer = data
            .buffers()
            .first()
            .ok_or_else(|| PyTypeError::new_err("the column has no contiguous memory"))?;
        let width = self.0.data_type().primitive_width().unwrap_or(1);
        let interface = PyDict::new(py);
        let address = buffer.as_ptr() as usize + data.offset() * width;
        // Read-only, as Arrow consumers share the memory.
        interface.set_item("data", (address, true))?;
        interface.set_item("typestr", self.numpy_type()?)?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        array_capsules(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<merganser.Column of {} {}>", self.0.len(), self.0.data_type())
    }
}

/// Whether an object exports Arrow data.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_array__")? || object.hasattr("__arrow_c_stream__")?)
}

/// Returns the arrays of an object: a single array, or the first column of each batch.
pub(crate) fn arrays(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    if object.hasattr("__arrow_c_array__")? {
        return Ok(vec![first_column(array(object)?)?]);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by Arrow's PyCapsule interface, a capsule of this name holds such a stream. It is moved out once, which
    // sets its `release` to null.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = ArrayStreamReader::try_new(stream).map_err(failed)?;
    reader.map(|array| first_column(array.map_err(failed)?)).collect()
}

/// Returns the array in the capsules of an object.
fn array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let capsules = object.call_method0("__arrow_c_array__")?;
    let capsules = capsules.cast::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema =
        schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: by Arrow's PyCapsule interface, capsules of these names hold such structures. The array is moved out
    // once, which sets its `release` to null. The schema remains in its capsule.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    data.map(make_array).map_err(failed)
}

/// Returns the first column of rows, or the array itself.
fn first_column(array: ArrayRef) -> PyResult<ArrayRef> {
    match array.as_struct_opt() {
        Some(rows) => rows
            .columns()
            .first()
            .cloned()
            .ok_or_else(|| PyValueError::new_err("the data have no columns")),
        None => Ok(array),
    }
}

/// Calls `take` with each text of an Arrow array or stream, `None` for null.
pub(crate) fn for_each_text(
    object: &Bound<'_, PyAny>,
    mut take: impl FnMut(Option<&[u8]>) -> PyResult<()>,
) -> PyResult<()> {
    for array in arrays(object)? {
        texts(&array)?.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Returns the texts of an array.
pub(crate) fn texts(array: &ArrayRef) -> PyResult<Vec<Option<&[u8]>>> {
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(|t| t.map(str::as_bytes)).collect(),
        DataType::LargeUtf8 => {
            array.as_string::<i64>().iter().map(|t| t.map(str::as_bytes)).collect()
        }
        DataType::Utf8View => array.as_string_view().iter().map(|t| t.map(str::as_bytes)).collect(),
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        other => {
            return Err(PyTypeError::new_err(format!("expected strings or bytes, found {other}")));
        }
    })
}
