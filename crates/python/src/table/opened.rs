//! The file of a table, and the open table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::{OutputCompression, OutputFormat};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::AnyTable;
use merganser_kmers::{Error, Header};
use pyo3::prelude::*;
use tempfile::TempPath;

use crate::errors::{raise, wrong};
use crate::temporary;

/// The file of a table: the requested file, or a temporary one that is deleted with the table.
pub(crate) enum Owned {
    Kept(PathBuf),
    Temporary(TempPath),
}

impl Owned {
    /// Returns the place of a result: the file `output`, or a temporary file in `folder`.
    pub(crate) fn place(py: Python<'_>, output: Option<PathBuf>, folder: &Path) -> PyResult<Owned> {
        if let Some(path) = output {
            let is_mgk = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("mgk"));
            if !is_mgk {
                let name = path.display();
                let problem =
                    "the table is an .mgk file: give such a name, and save it in other formats";
                return Err(wrong(py, "output", format!("{name}: {problem}")));
            }
            return Ok(Owned::Kept(path));
        }
        let file = tempfile::Builder::new()
            .prefix(temporary::BEGINNING)
            .suffix(".mgk")
            .tempfile_in(folder);
        let file = file.map_err(|cause| {
            let (dir, cause) = (folder.to_owned(), Arc::new(cause));
            raise(py, &merganser_io::Error::Temporary { dir, action: "write", cause })
        })?;
        Ok(Owned::Temporary(file.into_temp_path()))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Owned::Kept(path) => path,
            Owned::Temporary(path) => path,
        }
    }
}

/// An open table in the format of Merganser.
pub(crate) struct Opened {
    pub(crate) file: Owned,
    pub(crate) table: AnyTable,
    pub(crate) header: Header,
}

impl Opened {
    pub(crate) fn of(file: Owned) -> Result<Opened, Error> {
        let table = AnyTable::open(file.path())?;
        let header = match table.as_mgk() {
            Some(own) => own.header().clone(),
            None => Header::new(table.description().k, 0),
        };
        Ok(Opened { file, table, header })
    }

    /// Opens the file again, for operations that need their own table.
    pub(crate) fn again(&self) -> Result<AnyTable, Error> {
        AnyTable::open(self.file.path())
    }
}

/// The formats that can be saved.
const FORMATS: &str = "mgk, kmc, kff, jf, tsv, fasta or jellyfish";

/// Returns the format with this name or, without a name, the format of the file's suffix.
pub(crate) fn format_of(
    py: Python<'_>,
    path: &Path,
    format: Option<&str>,
) -> PyResult<TableFormat> {
    let Some(name) = format else { return format_of_name(py, path) };
    let known = name.parse().ok();
    let known = known.filter(|format| !matches!(format, TableFormat::Parquet | TableFormat::None));
    known.ok_or_else(|| wrong(py, "format", format!("'{name}' is unknown: give {FORMATS}")))
}

fn format_of_name(py: Python<'_>, path: &Path) -> PyResult<TableFormat> {
    let is_compressed = OutputCompression::of_name(path).is_some();
    match OutputFormat::of_name(path) {
        Some(OutputFormat::Tsv) => Ok(TableFormat::Tsv),
        Some(OutputFormat::Fasta) => Ok(TableFormat::Fasta),
        Some(OutputFormat::Mgk) if !is_compressed => Ok(TableFormat::Mgk),
        Some(OutputFormat::Kff) if !is_compressed => Ok(TableFormat::Kff),
        Some(OutputFormat::Jellyfish) if !is_compressed => Ok(TableFormat::Jf),
        _ => {
            let problem = "the name does not tell the format: give .mgk, .kff, .jf, .tsv, .tsv.gz, .fa or .fasta";
            let problem = format!("{}: {problem}, or format: {FORMATS}", path.display());
            Err(wrong(py, "path", problem))
        }
    }
}

/// Whether a format is text, which does not contain k.
pub(super) fn is_text(format: TableFormat) -> bool {
    matches!(format, TableFormat::Tsv | TableFormat::Fasta | TableFormat::Jellyfish)
}
