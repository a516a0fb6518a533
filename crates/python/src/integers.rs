//! Integers of calls.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors::{mistyped, wrong};

/// An integer type of options.
pub(crate) trait Whole: TryFrom<i64> {
    /// The largest value of an argument of this type.
    const MOST: i64;
}

macro_rules! whole {
    ($($kind:ty),*) => {
        $(impl Whole for $kind {
            const MOST: i64 = if size_of::<$kind>() < 8 { <$kind>::MAX as i64 } else { i64::MAX };
        })*
    };
}

whole!(u8, u16, u32, u64, usize);

/// An integer argument, whose type and range are checked when its name is known.
#[derive(Clone)]
pub(crate) enum Int {
    Of(i64),
    /// An integer of more than 64 bits: its digits.
    Large(String),
    /// An object of another type: the name of the type.
    Other(String),
}

impl Int {
    /// Returns the value of the argument `argument`.
    ///
    /// # Errors
    /// A `TypeError` if it is not an int, an `ArgumentError` if it is out of the range of `T`.
    pub(crate) fn of<T: Whole>(self, py: Python<'_>, argument: &str) -> PyResult<T> {
        let digits = match self {
            Int::Of(value) => match T::try_from(value) {
                Ok(value) => return Ok(value),
                Err(_) => value.to_string(),
            },
            Int::Large(digits) => digits,
            Int::Other(kind) => return Err(mistyped(argument, format!("give an int, not {kind}"))),
        };
        let remedy = match digits.starts_with('-') {
            true => "give 0 or more".to_owned(),
            false => format!("give {} or less", T::MOST),
        };
        Err(wrong(py, argument, format!("{digits} is out of range: {remedy}")))
    }

    /// Returns the value of the argument `argument`, which must be in `range`.
    ///
    /// # Errors
    /// Fails as [`of`](Self::of) does.
    pub(crate) fn within<T: Whole>(
        self,
        py: Python<'_>,
        argument: &str,
        range: RangeInclusive<i64>,
    ) -> PyResult<T> {
        let digits = match &self {
            Int::Of(value) if range.contains(value) => return self.of(py, argument),
            Int::Of(value) => value.to_string(),
            Int::Large(digits) => digits.clone(),
            Int::Other(_) => return self.of(py, argument),
        };
        let remedy = match range.into_inner() {
            (least, i64::MAX) => format!("give {least} or more"),
            (least, most) => format!("give {least} to {most}"),
        };
        Err(wrong(py, argument, format!("{digits} is out of range: {remedy}")))
    }

    /// Returns the value of the argument `argument`; `None` if it is not given.
    ///
    /// # Errors
    /// Fails as [`of`](Self::of) does.
    pub(crate) fn of_option<T: Whole>(
        given: Option<Int>,
        py: Python<'_>,
        argument: &str,
    ) -> PyResult<Option<T>> {
        given.map(|given| given.of(py, argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Int {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Int> {
        let other = || Ok(Int::Other(object.get_type().name()?.to_string()));
        if object.is_instance_of::<PyBool>() {
            return other();
        }
        match object.extract::<i64>() {
            Ok(value) => Ok(Int::Of(value)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Int::Large(object.str()?.to_string()))
            }
            Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => other(),
            Err(error) => Err(error),
        }
    }
}
