//! Arrow's C data interface in capsules (the PyCapsule interface): results out, strings and numbers in.

#![allow(
    unsafe_code,
    reason = "what comes from other programs through Arrow's C interface is pointers"
)]

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

/// A stream in a capsule.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// An array and its type in capsules.
fn array_capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(failed)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Rows with named columns. It exports `__arrow_c_array__` and `__arrow_c_stream__`, so that Polars, pyarrow, DuckDB and pandas take it
/// without a copy; `batch[name]` is a column: numbers as a NumPy array (a view), text as a list.
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

    /// A column by its name: numbers as NumPy's array, if NumPy is there, text as a list.
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

/// A column of numbers, whose memory NumPy and Arrow share, where there is no NumPy.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Column(pub(crate) ArrayRef);

impl Column {
    /// NumPy's array of numbers, if it is there, or this; a list of text.
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

    /// NumPy's name of the type.
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

    /// Its numbers as a list.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.0.data_type() {
            DataType::Int32 => PyList::new(py, self.0.as_primitive::<Int32Type>().values()),
            DataType::UInt32 => PyList::new(py, self.0.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => PyList::new(py, self.0.as_primitive::<UInt64Type>().values()),
            DataType::Float64 => PyList::new(py, self.0.as_primitive::<Float64Type>().values()),
            other => Err(PyTypeError::new_err(format!("no list of {other}"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tolist(py)?.try_iter()
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let data = self.0.to_data();
        let buffer =
            data.buffers().first().ok_or_else(|| PyTypeError::new_err("no flat memory"))?;
        let width = self.0.data_type().primitive_width().unwrap_or(1);
        let interface = PyDict::new(py);
        let address = buffer.as_ptr() as usize + data.offset() * width;
        // Read only: others share it.
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

/// Whether something shows itself as Arrow.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_array__")? || object.hasattr("__arrow_c_stream__")?)
}

/// The arrays that something is: one, or the batches of its first column.
pub(crate) fn arrays(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    if object.hasattr("__arrow_c_array__")? {
        return Ok(vec![first_column(array(object)?)?]);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream, by Arrow's PyCapsule interface, and it is moved out, once: its
    // `release` is null behind this.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = ArrayStreamReader::try_new(stream).map_err(failed)?;
    reader.map(|array| first_column(array.map_err(failed)?)).collect()
}

/// The array in the capsules of an object.
fn array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let capsules = object.call_method0("__arrow_c_array__")?;
    let capsules = capsules.cast::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema =
        schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold such structures, by Arrow's PyCapsule interface. The array is moved out, once: its
    // `release` is null behind this. The schema stays its capsule's.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    data.map(make_array).map_err(failed)
}

/// The first column of rows, or the array.
fn first_column(array: ArrayRef) -> PyResult<ArrayRef> {
    match array.as_struct_opt() {
        Some(rows) => rows
            .columns()
            .first()
            .cloned()
            .ok_or_else(|| PyValueError::new_err("rows without columns")),
        None => Ok(array),
    }
}

/// Hands each text of an Arrow array or stream to `take`, `None` for null.
pub(crate) fn for_each_text(
    object: &Bound<'_, PyAny>,
    mut take: impl FnMut(Option<&[u8]>) -> PyResult<()>,
) -> PyResult<()> {
    for array in arrays(object)? {
        texts(&array)?.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
}

/// The texts of an array.
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
            return Err(PyTypeError::new_err(format!(
                "strings or bytes are wanted, and these are {other}"
            )));
        }
    })
}
