//! The files of mapped reads.

use std::path::{Path, PathBuf};

use merganser_io::{Error, OutputFormat, OutputSet, is_regular};
use merganser_map::{Config, Format, Index, IndexKind, Outputs};
use pyo3::prelude::*;

use crate::errors::wrong;
use crate::keywords::Keywords;
use crate::outputs::create;

/// The highest compression level of BAM.
const MAX_LEVEL: i64 = 12;

/// The paths of the files.
pub(super) struct Files {
    records: PathBuf,
    unmapped: Option<PathBuf>,
    pub(super) format: Format,
    pub(super) sort: bool,
    index_format: Option<IndexKind>,
}

impl Files {
    /// Takes the options of the files of records.
    pub(super) fn of(
        records: PathBuf,
        config: &Config,
        keywords: &Keywords<'_>,
    ) -> PyResult<Files> {
        let has_end = |end| OutputFormat::of_name(&records) == Some(end);
        let sort = keywords.flag("sort")?;
        let level = keywords.within("level", 0..=MAX_LEVEL)?.unwrap_or(1);
        let format = match has_end(OutputFormat::Cram) {
            true => Format::Cram,
            false if has_end(OutputFormat::Bam) => Format::Bam(level),
            false => config.format,
        };
        let index_format = keywords.named::<IndexKind>("index_format")?;
        if index_format.is_some() && (!matches!(format, Format::Bam(_)) || !sort) {
            let problem = "requires sort=True and an output whose name ends in .bam";
            return Err(wrong(keywords.py(), "index_format", problem));
        }
        if index_format == Some(IndexKind::Crai) {
            return Err(wrong(keywords.py(), "index_format", "give bai or csi"));
        }
        let unmapped = keywords.path("unmapped")?;
        Ok(Files { records, unmapped, format, sort, index_format })
    }

    /// Returns the paths with the names of their arguments.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let unmapped = self.unmapped.iter().map(|path| ("unmapped", path.as_path()));
        std::iter::once(("output", self.records.as_path())).chain(unmapped)
    }

    /// Creates the files, with an index if the records are sorted.
    pub(super) fn create(
        &self,
        set: &OutputSet,
        index: &Index,
        sort: bool,
    ) -> Result<Outputs, Error> {
        let kind = match self.format {
            Format::Cram => IndexKind::Crai,
            _ => self.index_format.unwrap_or_else(|| IndexKind::for_contigs(index.contigs())),
        };
        let records = set.output(&self.records)?;
        let unmapped = create(set, self.unmapped.as_ref())?;
        let index = match sort && is_regular(&self.records) {
            true => Some((set.output(kind.beside(&self.records))?, kind)),
            false => None,
        };
        Ok(Outputs { records, index, unmapped })
    }
}
