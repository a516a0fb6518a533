//! The file of a table, and the open table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_io::OutputFormat;
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::AnyTable;
use merganser_kmers::{Error, Header};
use pyo3::prelude::*;
use tempfile::TempPath;

use crate::errors::{raise, wrong};

/// The file of a table: the requested file, or a temporary one that is deleted with the table.
pub(crate) enum Owned {
    Kept(PathBuf),
    Temporary(TempPath),
}

impl Owned {
    /// Returns the place of a result: the file `output`, or a temporary file in `folder`.
    pub(crate) fn place(py: Python<'_>, output: Option<PathBuf>, folder: &Path) -> PyResult<Owned> {
        if let Some(path) = output {
            return match OutputFormat::of_name(&path) {
                None | Some(OutputFormat::Mgk) => Ok(Owned::Kept(path)),
                Some(_) => {
                    let name = path.display();
                    let problem = "the output is an .mgk file: give such a name, or use save";
                    Err(wrong(py, "output", format!("{name}: {problem}")))
                }
            };
        }
        let file =
            tempfile::Builder::new().prefix(".merganser-").suffix(".mgk").tempfile_in(folder);
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

/// Returns the format with this name or, without a name, the format of the file's extension.
pub(crate) fn format_of(
    py: Python<'_>,
    path: &Path,
    format: Option<&str>,
) -> PyResult<TableFormat> {
    let by_name = OutputFormat::of_name(path).map(OutputFormat::suffix);
    let name = match format.or(by_name).unwrap_or("mgk") {
        "fa" => "fasta",
        name => name,
    };
    let known = name.parse().ok();
    let known = known.filter(|format| !matches!(format, TableFormat::Parquet | TableFormat::None));
    known.ok_or_else(|| {
        let message = format!("'{name}' is unknown: give mgk, kmc, kff, tsv, fasta or jellyfish");
        wrong(py, "format", message)
    })
}
