//! Rows with named columns, the form of all results.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PyTuple};

use crate::arrow;
use crate::column::{Column, values};
use crate::errors::import;
use crate::html;

/// Rows with named columns.
///
/// `rows[name]` is a column: numbers as a NumPy array (a view, without a copy), text as a list. Iteration gives named
/// tuples. Polars, pyarrow, DuckDB and pandas read the rows without a copy: `polars.DataFrame(rows)`,
/// `pyarrow.table(rows)`, `duckdb.sql("FROM rows")`, `rows.to_pandas()`.
///
/// >>> import merganser
/// >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).histogram()
/// >>> rows.columns, len(rows), list(rows)
/// (['count', 'kmers'], 2, [Row(count=1, kmers=2), Row(count=2, kmers=1)])
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Rows(pub(crate) RecordBatch);

impl Rows {
    /// Returns rows with these columns.
    pub(crate) fn of(schema: SchemaRef, columns: Vec<ArrayRef>) -> PyResult<Rows> {
        RecordBatch::try_new(schema, columns).map(Rows).map_err(arrow::failed)
    }

    /// Returns an iterator over named tuples of the rows.
    pub(crate) fn tuples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let class = row_class(py, &self.0.schema())?;
        tuples(py, &class, &self.0)
    }
}

/// Returns the class of the named tuples of rows.
pub(crate) fn row_class<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyAny>> {
    let names: Vec<&str> = schema.fields().iter().map(|field| &field.name()[..]).collect();
    py.import("merganser._rows")?.getattr("row_class")?.call1((PyTuple::new(py, names)?,))
}

/// Returns an iterator over rows as named tuples of `class`.
pub(crate) fn tuples<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyAny>,
    rows: &RecordBatch,
) -> PyResult<Bound<'py, PyIterator>> {
    let columns: Vec<Bound<'py, PyList>> =
        rows.columns().iter().map(|column| values(py, column)).collect::<PyResult<_>>()?;
    let columns = PyTuple::new(py, columns)?;
    py.import("merganser._rows")?.getattr("tuples")?.call1((class, columns))?.try_iter()
}

/// Returns a `pyarrow.Table` of an object that exports Arrow data.
pub(crate) fn to_arrow<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    import(object.py(), "to_arrow", "pyarrow")?.call_method1("table", (object,))
}

/// Returns a `polars.DataFrame` of an object that exports Arrow data.
pub(crate) fn to_polars<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    import(object.py(), "to_polars", "polars")?.call_method1("DataFrame", (object,))
}

/// Returns a `pandas.DataFrame` of an object that exports Arrow data.
pub(crate) fn to_pandas<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    import(py, "to_pandas", "pandas")?;
    import(py, "to_pandas", "pyarrow")?.call_method1("table", (object,))?.call_method0("to_pandas")
}

/// Returns the error for `numpy.asarray` of rows, which would otherwise become one object. The attribute
/// `__array_interface__` raises it and not `__array__`, because `pandas.DataFrame` calls that to list rows.
pub(crate) fn no_array(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} cannot become one array: use to_pandas(), or numpy.array of a column"
    ))
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns a column by its name: numbers as a NumPy array if NumPy is installed, text as a list. Numbers with
    /// missing values are a list, too, with None for these.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.column_by_name(name).ok_or_else(|| {
            PyKeyError::new_err(format!("{name}: the columns are {}", self.columns().join(", ")))
        })?;
        Column(Arc::clone(column)).shown(py)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tuples(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        match other.cast::<Rows>() {
            Ok(other) => {
                let is_equal = self.0 == other.get().0;
                Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
            }
            Err(_) => Ok(py.NotImplemented()),
        }
    }

    /// Returns the rows themselves, as `RowStream.read_all` does.
    ///
    /// >>> import merganser
    /// >>> rows = merganser.count([b"ACGTTA"], k=5, min_count=1).histogram()
    /// >>> rows.read_all() == rows
    /// True
    fn read_all(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[getter]
    fn __array_interface__(&self) -> PyResult<()> {
        Err(no_array("rows"))
    }

    /// Returns the columns as lists, by name.
    ///
    /// >>> import merganser
    /// >>> merganser.count([b"ACGTTA"], k=5, min_count=1).histogram().to_dict()
    /// {'count': [1], 'kmers': [2]}
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.0.schema().fields().iter().zip(self.0.columns()) {
            columns.set_item(field.name(), values(py, column)?)?;
        }
        Ok(columns)
    }

    /// Returns the rows as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.
    ///
    /// >>> import merganser
    /// >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
    /// >>> rows.to_pandas().shape
    /// (3, 2)
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        to_pandas(this)
    }

    /// Returns the rows as a `polars.DataFrame`. Needs the package polars.
    ///
    /// >>> import merganser
    /// >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
    /// >>> rows.to_polars().shape
    /// (3, 2)
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        to_polars(this)
    }

    /// Returns the rows as a `pyarrow.Table`. Needs the package pyarrow.
    ///
    /// >>> import merganser
    /// >>> rows = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).batches().read_all()
    /// >>> rows.to_arrow().shape
    /// (3, 2)
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        to_arrow(this)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        arrow::array_capsules(py, &StructArray::from(self.0.clone()))
    }

    #[pyo3(signature = (requested_schema=None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let one = std::iter::once(Ok(self.0.clone()));
        let reader = arrow_array::RecordBatchIterator::new(one, self.0.schema());
        arrow::stream_capsule(py, Box::new(reader))
    }

    pub(crate) fn __arrow_c_schema__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.0.schema())
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.0.num_rows(), self.columns().join(", "));
        format!("<merganser.Rows: {rows} of {columns}>")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let caption = match self.0.num_rows() {
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        html::table(py, &caption, &self.0, self.0.num_rows() as u64)
    }
}
