//! Imports NumPy arrays through their `__array_interface__`, without a copy.

#![allow(unsafe_code, reason = "a NumPy array is passed as an address and a shape")]

use merganser_run::counted;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{mistyped, wrong};

/// The description of an array by its `__array_interface__`.
struct Interface {
    kind: String,
    shape: Vec<usize>,
    address: Option<usize>,
    is_contiguous: bool,
}

impl Interface {
    /// Returns the description; `None` if the object is not an array.
    fn of(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Interface>> {
        let Ok(interface) = object.getattr("__array_interface__") else { return Ok(None) };
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| mistyped(argument, format!("its array interface has no {name}")))
        };
        let data =
            interface.get_item("data")?.and_then(|data| data.extract::<(usize, bool)>().ok());
        let strides = interface.get_item("strides")?.filter(|strides| !strides.is_none());
        Ok(Some(Interface {
            kind: item("typestr")?.extract()?,
            shape: item("shape")?.extract()?,
            address: data.map(|(address, _)| address),
            is_contiguous: strides.is_none(),
        }))
    }

    /// Returns the address of the first item.
    fn address(&self, py: Python<'_>, argument: &str) -> PyResult<usize> {
        match self.address {
            Some(address) if self.is_contiguous => Ok(address),
            _ => {
                let message = "the array is not contiguous: give numpy.ascontiguousarray of it";
                Err(wrong(py, argument, message))
            }
        }
    }
}

/// Contiguous 64-bit numbers of a Python object, which is kept alive.
pub(crate) struct Words<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    len: usize,
}

impl<'py> Words<'py> {
    /// Returns the words of an array; `None` if the object is not an array of integers. Integers of other types than
    /// `uint64` are copied.
    pub(crate) fn of(argument: &str, object: &Bound<'py, PyAny>) -> PyResult<Option<Words<'py>>> {
        let Some(array) = Interface::of(argument, object)? else { return Ok(None) };
        match (&array.kind[..], array.shape.len()) {
            ("<u8", _) => {}
            (kind, 1) if kind[1..].starts_with(['i', 'u']) => {
                refuse_negative(argument, object)?;
                return Words::of(argument, &object.call_method1("astype", ("<u8",))?);
            }
            _ => return Ok(None),
        }
        let [len] = array.shape[..] else {
            return Err(wrong(object.py(), argument, "the array must have one dimension"));
        };
        let address = array.address(object.py(), argument)?;
        if len > 0 && (address == 0 || !address.is_multiple_of(align_of::<u64>())) {
            let message = "the array's memory is not aligned: give a copy of it";
            return Err(wrong(object.py(), argument, message));
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

/// Checks that no integer of an array is negative.
fn refuse_negative(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<()> {
    if array.len()? > 0 {
        let least = array.call_method0("min")?;
        if least.lt(0)? {
            let problem = format!("{least} is negative: k-mers as integers are 0 or more");
            return Err(wrong(array.py(), argument, problem));
        }
    }
    Ok(())
}

/// Sequences of one length: an array of bytes (`S100`), or of `uint8` with one row per sequence.
pub(crate) struct Matrix<'py> {
    _owner: Bound<'py, PyAny>,
    address: usize,
    rows: usize,
    width: usize,
    /// Whether zeros at the end of a row are padding.
    is_padded: bool,
}

impl<'py> Matrix<'py> {
    /// Returns the rows of an array of k-mers as [`of`](Self::of). Its dtype may also be `U`.
    pub(crate) fn of_kmers(
        argument: &str,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Matrix<'py>>> {
        match Interface::of(argument, object)? {
            Some(array) if array.kind[1..].starts_with('U') => {
                let letters = object.call_method1("astype", ("S",));
                let letters = letters.map_err(|_| {
                    wrong(object.py(), argument, "a k-mer has a letter that is not ASCII")
                })?;
                Matrix::of(argument, &letters)
            }
            _ => Matrix::of(argument, object),
        }
    }

    /// Returns the rows of an array; `None` if the object is not an array of NumPy, or an array of objects.
    pub(crate) fn of(argument: &str, object: &Bound<'py, PyAny>) -> PyResult<Option<Matrix<'py>>> {
        let Some(array) = Interface::of(argument, object)? else { return Ok(None) };
        let width = array.kind.strip_prefix("|S").and_then(|width| width.parse().ok());
        let (rows, width, is_padded) = match (&array.shape[..], width, &array.kind[..]) {
            (&[rows], Some(width), _) => (rows, width, true),
            (&[rows, width], None, "|u1") => (rows, width, false),
            (_, _, "|O") => return Ok(None),
            (shape, _, kind) => {
                let kind = kind.trim_start_matches(['<', '>', '|', '=']);
                let dimensions = counted(shape.len() as u64, "dimension");
                let remedy = match kind.starts_with('U') {
                    true => "give its .astype(\"S\")",
                    false => "give dtype S with one, or uint8 with two",
                };
                let message = format!("a NumPy array of dtype {kind} with {dimensions}: {remedy}");
                return Err(mistyped(argument, message));
            }
        };
        let address = array.address(object.py(), argument)?;
        Ok(Some(Matrix { _owner: object.clone(), address, rows, width, is_padded }))
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
