//! The output files of a job.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::{Error, FileIdentity, Output, OutputSet};
use pyo3::prelude::*;

use crate::errors::{raise, wrong};

/// Checks that no output replaces an input or another output. Outputs are the names of arguments with paths.
///
/// # Errors
/// Names the argument and the file; also if the disk fails.
pub(crate) fn check<'n, 'p>(
    py: Python<'_>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    outputs: impl IntoIterator<Item = (&'n str, &'p Path)>,
) -> PyResult<()> {
    let identity = |path: &Path| {
        let failed = |cause| {
            let input = path.display().to_string();
            raise(py, &Error::Read { input, cause: Arc::new(cause) })
        };
        FileIdentity::of(path).map_err(failed)
    };
    let mut read = HashSet::new();
    for path in inputs {
        read.extend(identity(path.as_ref())?);
    }
    let mut taken = HashSet::new();
    for (argument, path) in outputs {
        let Some(file) = identity(path)? else { continue };
        let problem = match (read.contains(&file), taken.insert(file)) {
            (true, _) => "is an input, and will not be replaced by an output",
            (_, false) => "two outputs cannot go to the same file",
            _ => continue,
        };
        let problem = format!("{}: {problem}", path.display());
        return Err(wrong(py, argument, problem));
    }
    Ok(())
}

/// Creates an output if there is a path.
pub(crate) fn create(set: &OutputSet, path: Option<&PathBuf>) -> Result<Option<Output>, Error> {
    path.map(|path| set.output(path)).transpose()
}
