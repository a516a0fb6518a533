//! The reads of a job: single reads or pairs, in files or in memory.

use std::path::{Path, PathBuf};

use merganser_io::{Input, ReadInput, find_files_of_mates};
use merganser_run::{Warnings, counted};
use pyo3::prelude::*;

use crate::errors::wrong;
use crate::keywords::Keywords;
use crate::sequences::{self, Inputs};

/// The reads of a job.
pub(crate) struct Reads {
    pub(crate) segments: Vec<ReadInput>,
    /// Whether the reads are files, and not sequences in memory.
    pub(crate) are_files: bool,
    /// Whether mates are paired by position, whatever their names.
    pub(crate) any_names: bool,
    /// The FASTA file that reads in CRAM need.
    pub(crate) reference: Option<PathBuf>,
    /// Kept to keep the temporary files of sequences.
    _inputs: [Option<Inputs>; 2],
}

impl Reads {
    /// Returns the reads of a call. Takes the keywords `interleaved`, `any_names` and `reference`.
    pub(crate) fn of(
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        keywords: &Keywords<'_>,
        folder: &Path,
    ) -> PyResult<Reads> {
        let py = reads.py();
        let (interleaved, any_names) = (keywords.flag("interleaved")?, keywords.flag("any_names")?);
        if interleaved && mates.is_some() {
            return Err(wrong(py, "interleaved", "cannot be used together with mates"));
        }
        let first = sequences::inputs("reads", reads, folder)?;
        let second = mates.map(|mates| sequences::inputs("mates", mates, folder)).transpose()?;
        let reference = keywords.path("reference")?;
        let with_reference = |inputs: &Inputs| inputs.with_reference(reference.as_deref());
        let segments = match &second {
            None => {
                let kind = if interleaved { ReadInput::Interleaved } else { ReadInput::Single };
                with_reference(&first).into_iter().map(kind).collect()
            }
            Some(second) => {
                check_pairs(py, &first, second)?;
                let pairs = with_reference(&first).into_iter().zip(with_reference(second));
                pairs.map(|(one, other)| ReadInput::Pair(one, other)).collect()
            }
        };
        let are_files = first.are_files();
        Ok(Reads { segments, are_files, any_names, reference, _inputs: [Some(first), second] })
    }

    /// Returns all files that are read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.segments.iter().flat_map(ReadInput::inputs).flat_map(Input::files).collect()
    }

    /// Warns of files of mates that are read as single reads. `done` says what happens to reads: "classified".
    pub(crate) fn warn_of_mates(&self, done: &str, warnings: &Warnings) {
        let singles =
            self.segments.iter().filter(|segment| matches!(segment, ReadInput::Single(_)));
        if let Some([one, two]) = find_files_of_mates(singles.flat_map(ReadInput::inputs)) {
            let (one, two) = (one.display(), two.display());
            warnings.push(format!(
                "{one} and {two} look like mates of pairs, and are {done} as single reads: give the second as mates"
            ));
        }
    }

    /// Whether any reads are pairs.
    pub(crate) fn are_paired(&self) -> bool {
        self.segments.iter().any(ReadInput::is_paired)
    }
}

/// Checks that first and second mates are of the same kind and number.
fn check_pairs(py: Python<'_>, first: &Inputs, second: &Inputs) -> PyResult<()> {
    if first.are_files() != second.are_files() {
        return Err(wrong(
            py,
            "mates",
            "give files for both reads and mates, or sequences for both",
        ));
    }
    if first.inputs.len() != second.inputs.len() {
        let (reads, mates) = (first.inputs.len(), second.inputs.len());
        let reads = counted(reads as u64, "file");
        let problem = format!("{reads} of reads and {mates} of mates: give equal numbers");
        return Err(wrong(py, "mates", problem));
    }
    Ok(())
}
