//! The options for the resources of a call.

use std::path::PathBuf;
use std::str::FromStr;

use merganser::run::{Resources, parse_size};
use pyo3::prelude::*;

use crate::errors::wrong;

/// The options `device`, `threads`, `memory` and `tmp_dir` of a call, each `None` for the default.
#[derive(Default)]
pub(crate) struct Options<'py> {
    pub(crate) device: Option<&'py str>,
    pub(crate) threads: Option<usize>,
    pub(crate) memory: Option<Memory>,
    pub(crate) tmp_dir: Option<PathBuf>,
}

/// An amount of memory: bytes, or a size such as "8G".
#[derive(Clone, Debug, FromPyObject)]
pub(crate) enum Memory {
    Bytes(u64),
    Size(String),
}

/// Parses the value `name` of the keyword `keyword`.
pub(crate) fn named<T: FromStr<Err = String>>(
    py: Python<'_>,
    keyword: &str,
    name: &str,
) -> PyResult<T> {
    name.parse().map_err(|error| wrong(py, format!("{keyword}: {error}")))
}

impl Options<'_> {
    pub(crate) fn resources(self, py: Python<'_>) -> PyResult<Resources> {
        let mut resources = Resources::new();
        if let Some(threads) = self.threads {
            resources = resources.threads(threads);
        }
        match self.memory {
            None => {}
            Some(Memory::Bytes(bytes)) => resources = resources.memory(bytes),
            Some(Memory::Size(text)) => {
                let bytes =
                    parse_size(&text).map_err(|error| wrong(py, format!("memory: {error}")))?;
                resources = resources.memory(bytes);
            }
        }
        if let Some(folder) = self.tmp_dir {
            resources = resources.temp_dir(folder);
        }
        if let Some(device) = self.device {
            let device = device.parse().map_err(|error| wrong(py, format!("device: {error}")))?;
            resources = resources.device(device);
        }
        resources.validate().map_err(|error| crate::errors::raise(py, &error))?;
        Ok(resources)
    }
}
