//! The files of kept and of removed reads.

use std::path::{Path, PathBuf};

use merganser_deplete::{Config, OutputPaths, mate_paths};
use pyo3::prelude::*;

use crate::errors::wrong;
use crate::keywords::Keywords;
use crate::reads::Reads;

/// The paths of the files.
pub(super) struct Files {
    /// The files of kept reads; empty if they are returned.
    pub(super) kept: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl Files {
    /// Takes the paths of outputs.
    pub(super) fn of(config: &Config, reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Files> {
        let (output, second) = (keywords.path("output")?, keywords.path("output2")?);
        let matching = keywords.path("output_matching")?;
        if matching.is_some() && (config.keep || config.mask.is_some()) {
            let problem = "cannot be used together with keep or mask";
            return Err(wrong(keywords.py(), "output_matching", problem));
        }
        let is_paired = reads.are_paired();
        let py = keywords.py();
        let kept = match &output {
            Some(path) => mates(py, path, second, is_paired)?,
            None if second.is_some() => return Err(wrong(py, "output2", "requires output")),
            None => Vec::new(),
        };
        let others = match &matching {
            Some(path) => mates(py, path, None, is_paired)?,
            None => Vec::new(),
        };
        let files = Files { kept, others };
        let paths = files.paths(&files.kept);
        if files.kept.is_empty() && paths.has_alignments() {
            return Err(wrong(py, "output_matching", "alignments require output"));
        }
        Ok(files)
    }

    /// Returns the paths with the names of their arguments.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let kept = self.kept.iter().map(|path| ("output", path.as_path()));
        kept.chain(self.others.iter().map(|path| ("output_matching", path.as_path())))
    }

    /// Returns the outputs, with those of kept reads at `kept`.
    pub(super) fn paths(&self, kept: &[PathBuf]) -> OutputPaths {
        let (kept, others) = (kept.to_vec(), self.others.clone());
        OutputPaths { kept, others, ..OutputPaths::default() }
    }
}

/// Returns the outputs for a name: two for pairs if it contains `#` or `second` is given, otherwise one.
fn mates(
    py: Python<'_>,
    path: &Path,
    second: Option<PathBuf>,
    is_paired: bool,
) -> PyResult<Vec<PathBuf>> {
    match (is_paired, mate_paths(path), second) {
        (false, _, Some(_)) => {
            Err(wrong(py, "output2", "is for pairs: give mates, or interleaved=True"))
        }
        (true, Some(_), Some(_)) => {
            Err(wrong(py, "output2", "give either a # in the name of output, or output2"))
        }
        (true, Some(mates), None) => Ok(mates.into()),
        (true, None, Some(second)) => Ok(vec![path.to_owned(), second]),
        _ => Ok(vec![path.to_owned()]),
    }
}
