//! The output files of a job.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use merganser_io::{Error, Output, OutputSet, resolve_output};
use pyo3::prelude::*;

use crate::errors::wrong;

/// The identity of a file, regardless of names and links.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Place {
    /// An existing file: device and inode.
    There(u64, u64),
    /// A missing file: canonical folder and name.
    Missing(PathBuf),
}

impl Place {
    /// Returns the identity of a file; `None` if it is not a regular file, or if no file can be there.
    fn of(path: &Path) -> Option<Place> {
        if let Ok(at) = fs::metadata(path) {
            return at.is_file().then(|| Place::There(at.dev(), at.ino()));
        }
        let target = resolve_output(path).ok()?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(Place::Missing(folder.join(target.file_name()?)))
    }
}

/// Checks that no output replaces an input or another output. Outputs are the names of arguments with paths.
///
/// # Errors
/// Names the argument and the file.
pub(crate) fn check<'n, 'p>(
    py: Python<'_>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    outputs: impl IntoIterator<Item = (&'n str, &'p Path)>,
) -> PyResult<()> {
    let inputs: HashSet<Place> =
        inputs.into_iter().filter_map(|path| Place::of(path.as_ref())).collect();
    let mut taken = HashSet::new();
    for (argument, path) in outputs {
        let Some(place) = Place::of(path) else { continue };
        let problem = match (inputs.contains(&place), taken.insert(place)) {
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
