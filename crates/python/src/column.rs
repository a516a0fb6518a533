//! Columns of results, for NumPy and Python.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, UInt8Array, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::DataType;
use merganser_run::counted;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PySlice, PyString, PyTuple};

use crate::arrow;

/// A column of text or numbers, for Arrow and NumPy; numbers are not copied. `column[3]` is a value, a slice is a column.
/// Functions and `rows[name]` return it instead of a NumPy array if NumPy is not installed.
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Column(pub(crate) ArrayRef);

impl Column {
    /// Returns a NumPy array of numbers or truth values without missing ones, or `self` if NumPy is not installed;
    /// otherwise a list.
    pub(crate) fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        if self.0.null_count() > 0 {
            return Ok(values(py, &self.0)?.into_any());
        }
        let numpy = py.import("numpy").ok();
        match (self.0.data_type(), numpy) {
            (DataType::Boolean, Some(numpy)) => {
                let bytes = self.0.as_boolean().values().iter().map(u8::from);
                let bytes = Column(Arc::new(UInt8Array::from_iter_values(bytes)));
                numpy
                    .call_method1("asarray", (Bound::new(py, bytes)?,))?
                    .call_method1("view", ("?",))
            }
            (kind, _) if !kind.is_numeric() => Ok(values(py, &self.0)?.into_any()),
            (_, Some(numpy)) => numpy.call_method1("asarray", (Bound::new(py, self)?,)),
            (_, None) => Ok(Bound::new(py, self)?.into_any()),
        }
    }

    /// Returns NumPy's name of the type.
    fn numpy_type(&self) -> PyResult<&'static str> {
        Ok(match self.0.data_type() {
            DataType::UInt8 => "|u1",
            DataType::UInt16 => "<u2",
            DataType::Int32 => "<i4",
            DataType::UInt32 => "<u4",
            DataType::Int64 => "<i8",
            DataType::UInt64 => "<u8",
            DataType::Float32 => "<f4",
            DataType::Float64 => "<f8",
            other => {
                return Err(PyAttributeError::new_err(format!("NumPy has no view of {other}")));
            }
        })
    }
}

/// Returns the values of a column as a list, with None for missing ones.
pub(crate) fn values<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Utf8 => list(py, column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => list(py, column.as_string::<i64>().iter()),
        DataType::Boolean => list(py, column.as_boolean().iter()),
        DataType::UInt8 => numbers::<UInt8Type>(py, column),
        DataType::UInt16 => numbers::<UInt16Type>(py, column),
        DataType::Int32 => numbers::<Int32Type>(py, column),
        DataType::UInt32 => numbers::<UInt32Type>(py, column),
        DataType::Int64 => numbers::<Int64Type>(py, column),
        DataType::UInt64 => numbers::<UInt64Type>(py, column),
        DataType::Float32 => numbers::<Float32Type>(py, column),
        DataType::Float64 => numbers::<Float64Type>(py, column),
        other => Err(PyTypeError::new_err(format!("a column of {other} cannot become a list"))),
    }
}

fn list<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl ExactSizeIterator<Item = Option<T>>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, values)
}

fn numbers<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    column: &ArrayRef,
) -> PyResult<Bound<'py, PyList>>
where
    T::Native: IntoPyObject<'py>,
{
    list(py, column.as_primitive::<T>().iter())
}

/// Returns every `step`-th value from `start` on.
fn sliced(column: &ArrayRef, start: isize, step: isize, len: usize) -> PyResult<ArrayRef> {
    if step == 1 {
        return Ok(column.slice(start as usize, len));
    }
    let data = column.to_data();
    let mut taken = MutableArrayData::new(vec![&data], false, len);
    for number in 0..len as isize {
        let at = (start + number * step) as usize;
        taken.try_extend(0, at, at + 1).map_err(arrow::failed)?;
    }
    Ok(make_array(taken.freeze()))
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the values as a list.
    ///
    /// >>> import merganser
    /// >>> merganser.decode_kmers([27], k=4).tolist()
    /// ['ACGT']
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        values(py, &self.0)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tolist(py)?.try_iter()
    }

    /// Returns a value, or a column of the values of a slice.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let len = self.0.len() as isize;
        if let Ok(slice) = at.cast::<PySlice>() {
            let range = slice.indices(len)?;
            let column = Column(sliced(&self.0, range.start, range.step, range.slicelength)?);
            return Ok(Bound::new(py, column)?.into_any());
        }
        let at: isize = at.extract()?;
        let place = if at < 0 { at + len } else { at };
        if !(0..len).contains(&place) {
            return Err(PyIndexError::new_err(format!(
                "{at}: the column has {}",
                counted(len as u64, "value")
            )));
        }
        values(py, &self.0.slice(place as usize, 1))?.get_item(0)
    }

    /// Returns the values as a NumPy array; texts are objects.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = copy;
        let object = PyString::new(py, "object").into_any();
        let kind = dtype.or((!self.0.data_type().is_numeric()).then_some(&object));
        py.import("numpy")?.call_method1("array", (self.tolist(py)?, kind))
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let data = self.0.to_data();
        let buffer = data
            .buffers()
            .first()
            .ok_or_else(|| PyAttributeError::new_err("the column has no contiguous memory"))?;
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
        arrow::array_capsules(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<merganser.Column of {} {}>", self.0.len(), self.0.data_type())
    }
}
