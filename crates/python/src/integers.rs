//! Integers of calls.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::wrong;

/// An integer argument, whose range is checked when its name is known.
#[derive(Clone, Copy)]
pub(crate) struct Int(pub(crate) i64);

impl Int {
    /// Returns the value of the argument `argument`.
    ///
    /// # Errors
    /// An `ArgumentError` if it is out of range.
    pub(crate) fn of<T: TryFrom<i64>>(self, py: Python<'_>, argument: &str) -> PyResult<T> {
        T::try_from(self.0).map_err(|_| wrong(py, argument, format!("{} is out of range", self.0)))
    }

    /// Returns the value of the argument `argument`; `None` if it is not given.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn of_option<T: TryFrom<i64>>(
        given: Option<Int>,
        py: Python<'_>,
        argument: &str,
    ) -> PyResult<Option<T>> {
        given.map(|given| given.of(py, argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Int {
    type Error = PyErr;

    /// Extracts an integer; one of more than 64 bits becomes the largest or smallest one.
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Int> {
        match object.extract::<i64>() {
            Ok(value) => Ok(Int(value)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Int(if object.lt(0)? { i64::MIN } else { i64::MAX }))
            }
            Err(error) => Err(error),
        }
    }
}
