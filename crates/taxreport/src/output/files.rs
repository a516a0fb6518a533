//! The output files of a classification run by their paths.

use std::io::Write;
use std::path::PathBuf;

use merganser_io::{Output, OutputSet, ReadInput};
use merganser_run::Context;

use super::{Outputs, ReadFiles, ReadPaths, ReadStyle};
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
    /// The reads that have a taxon. For pairs, `#` in the name becomes `_1` and `_2`; see [`ReadPaths::new`]. Names in
    /// `.sam`, `.bam` and `.cram` get alignments; see [`ReadStyle`].
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
    reads: ReadFiles,
}

impl OutputFiles {
    /// Creates the files of a run over these reads.
    ///
    /// # Errors
    /// If a file cannot be created, or if reads cannot be written as alignments.
    pub fn create(
        paths: &OutputPaths,
        reads: &[ReadInput],
        context: &Context,
    ) -> Result<OutputFiles, Error> {
        let set = OutputSet::new();
        let file =
            |path: &Option<PathBuf>| path.as_deref().map(|path| set.output(path)).transpose();
        let read_paths =
            |path: &Option<PathBuf>| path.as_deref().map(|path| ReadPaths::new(path, reads));
        let kinds = [read_paths(&paths.classified), read_paths(&paths.unclassified)];
        Ok(OutputFiles {
            lines: file(&paths.lines)?,
            report: file(&paths.report)?,
            reads: ReadFiles::create(
                kinds,
                &ReadStyle::default(),
                reads,
                (&set, context.budget()),
            )?,
            set,
        })
    }

    /// Returns the outputs that a run writes to.
    pub fn streams(&mut self) -> Outputs<'_> {
        Outputs { lines: self.lines.as_mut().map(|lines| lines as _), ..self.reads.streams() }
    }

    /// Writes the report, if it is wanted, and has all files appear.
    ///
    /// # Errors
    /// If a file cannot be written; then none appears.
    pub fn commit(
        self,
        context: &Context,
        write_report: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let OutputFiles { set, lines, mut report, reads } = self;
        if let Some(report) = &mut report {
            write_report(report)?;
        }
        for output in lines.into_iter().chain(report).chain(reads.end(context)?) {
            output.finish()?;
        }
        Ok(set.commit()?)
    }
}
