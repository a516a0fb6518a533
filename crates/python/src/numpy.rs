//! Imports NumPy arrays through their `__array_interface__`, without a copy.

#![allow(unsafe_code, reason = "a NumPy array is passed as an address and a shape")]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Contiguous 64-bit numbers of a Python object, which is kept alive.
pub(crate) struct Words<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    len: usize,
}

impl<'py> Words<'py> {
    /// Returns the words of an array; `None` if the object is not an array of `uint64`.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Words<'py>>> {
        let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| PyValueError::new_err(format!("the array interface has no {name}")))
        };
        if item("typestr")?.extract::<String>()? != "<u8" {
            return Ok(None);
        }
        let shape: Vec<usize> = item("shape")?.extract()?;
        let strides = interface.get_item("strides")?.filter(|strides| !strides.is_none());
        let [len] = shape[..] else {
            return Err(PyValueError::new_err("the array must have one dimension"));
        };
        if strides.is_some() {
            return Err(PyValueError::new_err(
                "the array is not contiguous: pass numpy.ascontiguousarray of it",
            ));
        }
        let (address, _): (usize, bool) = item("data")?.extract()?;
        if len > 0 && (address == 0 || !address.is_multiple_of(align_of::<u64>())) {
            return Err(PyValueError::new_err(
                "the array's memory is not aligned: pass a copy of it",
            ));
        }
        Ok(Some(Words { _owner: object.clone(), address, len }))
    }

    /// Returns the words.
    pub(crate) fn as_slice(&self) -> &[u64] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: by NumPy's array interface, the address has `len` numbers of this type while the array exists, and
        // `_owner` keeps it. The address is aligned and not null. If another thread writes to the array during a
        // call, the results are those of the values that were read, as with all NumPy functions.
        unsafe { std::slice::from_raw_parts(self.address as *const u64, self.len) }
    }
}

/// Sequences of one length: an array of bytes (`S100`), or of `uint8` with one row per sequence.
pub(crate) struct Rows<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    rows: usize,
    width: usize,
    /// Whether zeros at the end of a row are padding.
    is_padded: bool,
}

impl<'py> Rows<'py> {
    /// Returns the rows of an array; `None` if the object is not such an array.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Rows<'py>>> {
        let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| PyValueError::new_err(format!("the array interface has no {name}")))
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
                "the array is not contiguous: pass numpy.ascontiguousarray of it",
            ));
        }
        let (address, _): (usize, bool) = item("data")?.extract()?;
        Ok(Some(Rows { _owner: object.clone(), address, rows, width, is_padded }))
    }

    /// Returns the sequences.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        if self.width == 0 || self.address == 0 {
            return vec![&[]; self.rows];
        }
        // SAFETY: by NumPy's array interface, the address has `rows * width` bytes while the array exists, and
        // `_owner` keeps it. If another thread writes to the array during a call, the results are those of the values
        // that were read, as with all NumPy functions.
        let all = unsafe {
            std::slice::from_raw_parts(self.address as *const u8, self.rows * self.width)
        };
        let end = |row: &[u8]| row.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        all.chunks_exact(self.width)
            .map(|row| if self.is_padded { &row[..end(row)] } else { row })
            .collect()
    }
}
