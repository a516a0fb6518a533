//! The output files of a classification run by their paths.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputSet, ReadInput};

use super::{Outputs, ReadOutput};
use crate::Error;

/// The paths of a run's outputs; `None` for those that are not wanted. Names in `.gz` are compressed, and `-` is
/// standard output.
///
/// ```
/// use merganser_taxreport::output::OutputPaths;
///
/// let paths = OutputPaths::new().lines("sample.tsv.gz").report("sample.kreport");
/// assert_eq!(paths.classified, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputPaths {
    /// A line for each read.
    pub lines: Option<PathBuf>,
    /// The report in the format of Kraken 2.
    pub report: Option<PathBuf>,
    /// The reads that have a taxon. For pairs, `#` in the name becomes `_1` and `_2`; see [`ReadPaths::new`].
    pub classified: Option<PathBuf>,
    /// The reads without a taxon, with names as for `classified`.
    pub unclassified: Option<PathBuf>,
}

impl OutputPaths {
    /// Returns no outputs.
    pub fn new() -> OutputPaths {
        OutputPaths::default()
    }

    /// Sets the file of lines.
    #[must_use]
    pub fn lines(self, path: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { lines: Some(path.into()), ..self }
    }

    /// Sets the file of the report.
    #[must_use]
    pub fn report(self, path: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { report: Some(path.into()), ..self }
    }

    /// Sets the file of the reads that have a taxon.
    #[must_use]
    pub fn classified(self, path: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { classified: Some(path.into()), ..self }
    }

    /// Sets the file of the reads without a taxon.
    #[must_use]
    pub fn unclassified(self, path: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { unclassified: Some(path.into()), ..self }
    }
}

/// The open files of [`OutputPaths`].
#[derive(Debug)]
pub struct OutputFiles {
    set: OutputSet,
    lines: Option<Output>,
    report: Option<Output>,
    classified: Option<ReadFiles>,
    unclassified: Option<ReadFiles>,
}

impl OutputFiles {
    /// Creates the files of a run over these reads.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(paths: &OutputPaths, reads: &[ReadInput]) -> Result<OutputFiles, Error> {
        let set = OutputSet::new();
        let file =
            |path: &Option<PathBuf>| path.as_deref().map(|path| set.output(path)).transpose();
        let read_files = |path: &Option<PathBuf>| {
            path.as_deref()
                .map(|path| ReadFiles::create(&ReadPaths::new(path, reads), &set))
                .transpose()
        };
        Ok(OutputFiles {
            lines: file(&paths.lines)?,
            report: file(&paths.report)?,
            classified: read_files(&paths.classified)?,
            unclassified: read_files(&paths.unclassified)?,
            set,
        })
    }

    /// Returns the outputs that a run writes to.
    pub fn streams(&mut self) -> Outputs<'_> {
        Outputs {
            lines: self.lines.as_mut().map(|lines| lines as _),
            classified: self.classified.as_mut().map(ReadFiles::streams),
            unclassified: self.unclassified.as_mut().map(ReadFiles::streams),
            partial: None,
        }
    }

    /// Writes the report, if it is wanted, and has all files appear.
    ///
    /// # Errors
    /// If a file cannot be written; then none appears.
    pub fn commit(
        self,
        write_report: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let OutputFiles { set, lines, mut report, classified, unclassified } = self;
        if let Some(report) = &mut report {
            write_report(report)?;
        }
        let reads = classified.into_iter().chain(unclassified).flat_map(ReadFiles::into_outputs);
        for output in lines.into_iter().chain(report).chain(reads) {
            output.finish()?;
        }
        Ok(set.commit()?)
    }
}

/// The paths to which reads are written back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPaths {
    /// The file for single reads, or for all reads.
    pub single: Option<PathBuf>,
    /// The files for first and for second mates.
    pub mates: Option<[PathBuf; 2]>,
}

impl ReadPaths {
    /// Names the files as Kraken 2 does: `#` becomes `_1` and `_2`. Single reads in the same run go to the
    /// name without `#`. If `path` has no `#`, there is one file for all reads.
    pub fn new(path: &Path, reads: &[ReadInput]) -> ReadPaths {
        let name = path.as_os_str().as_bytes();
        let Some(place) = name.iter().position(|&letter| letter == b'#') else {
            return ReadPaths { single: Some(path.to_owned()), mates: None };
        };
        let with = |by: &str| {
            let parts = [&name[..place], by.as_bytes(), &name[place + 1..]];
            PathBuf::from(OsString::from_vec(parts.concat()))
        };
        let pairs = reads.iter().any(ReadInput::is_paired);
        let singles = reads.iter().any(|input| !input.is_paired());
        ReadPaths {
            single: (singles || !pairs).then(|| with("")),
            mates: pairs.then(|| [with("_1"), with("_2")]),
        }
    }

    /// Returns all paths.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.single.iter().chain(self.mates.iter().flatten()).map(PathBuf::as_path)
    }
}

/// The open files of [`ReadPaths`].
#[derive(Debug)]
pub struct ReadFiles {
    single: Option<Output>,
    mates: Option<[Output; 2]>,
}

impl ReadFiles {
    /// Creates the files as members of `set`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(paths: &ReadPaths, set: &OutputSet) -> Result<ReadFiles, Error> {
        let single = paths.single.as_deref().map(|path| set.output(path)).transpose()?;
        let mates = match &paths.mates {
            Some([one, two]) => Some([set.output(one)?, set.output(two)?]),
            None => None,
        };
        Ok(ReadFiles { single, mates })
    }

    /// Returns the outputs that a run writes to.
    pub fn streams(&mut self) -> ReadOutput<'_> {
        ReadOutput {
            single: self.single.as_mut().map(|single| single as _),
            mates: self.mates.as_mut().map(|[one, two]| [one as _, two as _]),
        }
    }

    /// Returns the files, to be finished.
    pub fn into_outputs(self) -> impl Iterator<Item = Output> {
        self.single.into_iter().chain(self.mates.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_mates_have_numbers() {
        let bytes = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let pair = ReadInput::from(("1", "2"));
        let paths = ReadPaths::new(&bytes(b"\xe9#.fq"), std::slice::from_ref(&pair));
        assert_eq!(paths.mates, Some([bytes(b"\xe9_1.fq"), bytes(b"\xe9_2.fq")]));
        assert_eq!(paths.single, None);
        let both = ReadPaths::new(Path::new("a#.fq"), &[pair, ReadInput::from("3")]);
        assert!(both.all().eq(["a.fq", "a_1.fq", "a_2.fq"].map(Path::new)));
    }
}
