//! Arrow's C data interface in capsules (the PyCapsule interface): exports results, imports strings and numbers.

#![allow(unsafe_code, reason = "Arrow's C interface passes pointers")]

use std::ffi::CStr;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{mistyped, wrong};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

pub(crate) fn failed(error: ArrowError) -> PyErr {
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
pub(crate) fn array_capsules<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(failed)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Returns a capsule with the type of an array or of rows.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(failed)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Whether an object exports Arrow data.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_array__")? || object.hasattr("__arrow_c_stream__")?)
}

/// Returns the arrays of `object`, the argument `argument`: a single array, or the only column of rows.
pub(crate) fn arrays(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    if object.hasattr("__arrow_c_array__")? {
        return Ok(vec![only_column(argument, array(object)?)?]);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by Arrow's PyCapsule interface, a capsule of this name holds such a stream. It is moved out once, which
    // sets its `release` to null.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = ArrayStreamReader::try_new(stream).map_err(failed)?;
    reader.map(|array| only_column(argument, array.map_err(failed)?)).collect()
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

/// Returns the only column of rows, or the array itself.
fn only_column(argument: &str, array: ArrayRef) -> PyResult<ArrayRef> {
    let Some(rows) = array.as_struct_opt() else { return Ok(array) };
    match rows.columns() {
        [column] => Ok(column.clone()),
        columns => {
            let number = columns.len();
            Err(mistyped(argument, format!("the data have {number} columns: give one column")))
        }
    }
}

/// Returns the numbers of arrays of integers, the argument `argument`; `None` if they have another type.
pub(crate) fn words(
    py: Python<'_>,
    argument: &str,
    arrays: &[ArrayRef],
) -> PyResult<Option<Vec<u64>>> {
    if arrays.is_empty() || !arrays.iter().all(|array| array.data_type().is_integer()) {
        return Ok(None);
    }
    let mut words = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
    for array in arrays {
        let values: Vec<Option<i128>> = match array.data_type() {
            DataType::UInt64 if array.null_count() == 0 => {
                words.extend_from_slice(array.as_primitive::<UInt64Type>().values());
                continue;
            }
            DataType::UInt64 => integers::<UInt64Type>(array),
            DataType::UInt32 => integers::<UInt32Type>(array),
            DataType::Int64 => integers::<Int64Type>(array),
            DataType::Int32 => integers::<Int32Type>(array),
            other => {
                return Err(mistyped(argument, format!("an array of {other}: give uint64")));
            }
        };
        for value in values {
            let word = value.and_then(|value| u64::try_from(value).ok());
            words.push(word.ok_or_else(|| {
                wrong(
                    py,
                    argument,
                    "a value is missing or negative: k-mers as integers are 0 or more",
                )
            })?);
        }
    }
    Ok(Some(words))
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Vec<Option<i128>> {
    array.as_primitive::<T>().iter().map(|value| value.map(Into::into)).collect()
}

/// Returns the texts of an array; a missing value is an empty text.
pub(crate) fn texts<'a>(argument: &str, array: &'a ArrayRef) -> PyResult<Vec<&'a [u8]>> {
    let some = |text: Option<&'a str>| text.unwrap_or_default().as_bytes();
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(some).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(some).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(some).collect(),
        DataType::Binary => {
            array.as_binary::<i32>().iter().map(Option::unwrap_or_default).collect()
        }
        DataType::LargeBinary => {
            array.as_binary::<i64>().iter().map(Option::unwrap_or_default).collect()
        }
        DataType::BinaryView => {
            array.as_binary_view().iter().map(Option::unwrap_or_default).collect()
        }
        // The type of a column without values.
        DataType::Null => vec![&[]; array.len()],
        other => {
            return Err(mistyped(argument, format!("an array of {other}: give strings or bytes")));
        }
    })
}
