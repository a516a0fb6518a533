//! The files of hits and of counts.

use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputFormat, OutputSet};
use merganser_search::{Error, Format, Writer};
use pyo3::prelude::*;

use crate::errors::wrong;
use crate::keywords::Keywords;
use crate::outputs::create;

/// The paths of the files.
pub(super) struct Files {
    hits: PathBuf,
    format: Format,
    counts: Option<PathBuf>,
}

impl Files {
    /// Takes the options of the files.
    pub(super) fn of(hits: PathBuf, keywords: &Keywords<'_>) -> PyResult<Files> {
        let given = keywords.named::<Format>("format")?;
        let format = given.unwrap_or_else(|| Format::of_name(&hits));
        if let (None, Some(asked)) = (given, OutputFormat::of_name(&hits))
            && format.suffix() != asked
        {
            let problem = format!(
                "hits cannot be written as .{}: give a name that ends in .tsv, .bed, .fa, .sam or .bam, or format",
                asked.suffix()
            );
            return Err(wrong(keywords.py(), "output", problem));
        }
        Ok(Files { hits, format, counts: keywords.path("counts")? })
    }

    /// Returns the paths with the names of their arguments.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let counts = self.counts.iter().map(|path| ("counts", path.as_path()));
        std::iter::once(("output", self.hits.as_path())).chain(counts)
    }

    /// Creates the files.
    pub(super) fn create(&self, set: &OutputSet) -> Result<(Writer, Option<Output>), Error> {
        let hits = Writer::new(self.format, set.output(&self.hits)?);
        Ok((hits, create(set, self.counts.as_ref())?))
    }
}
