//! NumPy's arrays by their `__array_interface__`: numbers in, without a copy.

#![allow(unsafe_code, reason = "an array of NumPy is an address and a shape")]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Numbers of 64 bits that lie one behind the other, of an object that is kept while they are used.
pub(crate) struct Words<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    len: usize,
}

impl<'py> Words<'py> {
    /// The words of an array; `None` if the object is no array of `uint64`.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Words<'py>>> {
        let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| PyValueError::new_err(format!("an array without {name}")))
        };
        if item("typestr")?.extract::<String>()? != "<u8" {
            return Ok(None);
        }
        let shape: Vec<usize> = item("shape")?.extract()?;
        let strides = interface.get_item("strides")?.filter(|strides| !strides.is_none());
        let [len] = shape[..] else {
            return Err(PyValueError::new_err("an array of one dimension is wanted"));
        };
        if strides.is_some() {
            return Err(PyValueError::new_err(
                "the array's numbers do not lie one behind the other: take numpy.ascontiguousarray of it",
            ));
        }
        let (address, _): (usize, bool) = item("data")?.extract()?;
        if len > 0 && (address == 0 || !address.is_multiple_of(align_of::<u64>())) {
            return Err(PyValueError::new_err(
                "the array's memory is not aligned: take a copy of it",
            ));
        }
        Ok(Some(Words { _owner: object.clone(), address, len }))
    }

    /// The numbers.
    pub(crate) fn as_slice(&self) -> &[u64] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: by NumPy's array interface so many numbers of this type lie at the address while the array is there, which
        // is kept here; the address is aligned and not null. Who writes to the array during a call gets the answers of
        // whatever is read, as in all of NumPy.
        unsafe { std::slice::from_raw_parts(self.address as *const u64, self.len) }
    }
}

/// Sequences of one length: an array of bytes (`S100`), or of `uint8` with a row for each.
pub(crate) struct Rows<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    rows: usize,
    width: usize,
    /// Zeros behind a sequence are none of it.
    is_padded: bool,
}

impl<'py> Rows<'py> {
    /// The rows of an array; `None` if the object is none of these.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Rows<'py>>> {
        let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| PyValueError::new_err(format!("an array without {name}")))
        };
        let kind = item("typestr")?.extract::<String>()?;
        let shape: Vec<usize> = item("shape")?.extract()?;
        let width = kind.strip_prefix("|S").and_then(|width| width.parse().ok());
        let (rows, width, is_padded) = match (&shape[..], width, &kind[..]) {
            (&[rows], Some(width), _) => (rows, width, true),
            (&[rows, width], None, "|u1") => (rows, width, false),
            _ => return Ok(None),
        };
        let strides = interface.get_item("strides")?.filter(|strides| !strides.is_none());
        if strides.is_some() {
            return Err(PyValueError::new_err(
                "the array's rows do not lie one behind the other: take numpy.ascontiguousarray of it",
            ));
        }
        let (address, _): (usize, bool) = item("data")?.extract()?;
        Ok(Some(Rows { _owner: object.clone(), address, rows, width, is_padded }))
    }

    /// The sequences.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        if self.width == 0 || self.address == 0 {
            return vec![&[]; self.rows];
        }
        // SAFETY: by NumPy's array interface so many bytes lie at the address while the array is there, which is kept here.
        // Who writes to the array during a call gets decisions of whatever is read, as in all of NumPy.
        let all = unsafe {
            std::slice::from_raw_parts(self.address as *const u8, self.rows * self.width)
        };
        let end = |row: &[u8]| row.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        all.chunks_exact(self.width)
            .map(|row| if self.is_padded { &row[..end(row)] } else { row })
            .collect()
    }
}
