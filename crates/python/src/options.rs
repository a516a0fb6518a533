//! The options for the resources of a call.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use merganser_run::{Context, parse_size};
use pyo3::prelude::*;

use crate::errors::{mistyped, raise, wrong};
use crate::integers::Int;

/// The options `device`, `threads`, `memory` and `tmp_dir` of a call, each `None` for the default.
#[derive(Default)]
pub(crate) struct Options<'py> {
    pub(crate) device: Option<&'py str>,
    pub(crate) threads: Option<usize>,
    pub(crate) memory: Option<Memory>,
    pub(crate) tmp_dir: Option<PathBuf>,
}

/// An amount of memory: bytes, or a size such as "8G".
#[derive(Clone)]
pub(crate) enum Memory {
    Bytes(Int),
    Size(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Memory {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Memory> {
        if let Ok(size) = object.extract::<String>() {
            return Ok(Memory::Size(size));
        }
        object.extract::<Int>().map(Memory::Bytes)
    }
}

impl Memory {
    /// Returns the number of bytes. `argument` is the name of the argument.
    pub(crate) fn bytes(self, py: Python<'_>, argument: &str) -> PyResult<u64> {
        match self {
            Memory::Bytes(Int::Other(kind)) => {
                let problem = format!("give an int of bytes, or a size such as \"8G\", not {kind}");
                Err(mistyped(argument, problem))
            }
            Memory::Bytes(bytes) => bytes.of(py, argument),
            Memory::Size(text) => {
                parse_size(&text).map_err(|error| wrong(py, argument, error.to_string()))
            }
        }
    }
}

/// Parses the value `text` of the argument `argument`.
pub(crate) fn named<T>(py: Python<'_>, argument: &str, text: &str) -> PyResult<T>
where
    T: FromStr<Err: Display>,
{
    text.parse().map_err(|error: T::Err| wrong(py, argument, error.to_string()))
}

impl Options<'_> {
    /// Returns the resources of a job.
    pub(crate) fn context(self, py: Python<'_>) -> PyResult<Context> {
        let mut context = Context::new();
        if let Some(threads) = self.threads {
            context = context.threads(threads);
        }
        if let Some(memory) = self.memory {
            context = context.memory(memory.bytes(py, "memory")?);
        }
        if let Some(folder) = self.tmp_dir {
            context = context.temp_dir(folder);
        }
        if let Some(device) = self.device {
            context = context.device(named(py, "device", device)?);
        }
        context.validate().map_err(|error| raise(py, &error))?;
        Ok(context)
    }
}
