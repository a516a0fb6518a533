//! What can go wrong while building, reading or querying a database.

use merganser_run::{ConfigError, GpuShortage, Shortage};
use std::path::PathBuf;

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input, output or temporary storage failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// A result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A taxonomy, or a table of taxids, cannot be read.
    #[error(transparent)]
    Taxonomy(Box<merganser_taxonomy::Error>),
    /// A library, its manifest or the taxids of its sequences cannot be read.
    #[error(transparent)]
    Library(Box<merganser_library::Error>),
    /// A report or other results cannot be read, written or joined.
    #[error(transparent)]
    Report(Box<merganser_taxreport::Error>),
    /// Partial results or simulated reads of a Kraken 2 database cannot be read.
    #[error(transparent)]
    Kraken2(Box<merganser_kraken2::Error>),
    /// A parameter is out of its range, or two do not go together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The memory does not suffice for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, where, and what to do.
        reason: String,
    },
    /// A file could not be opened, read or mapped.
    #[error("{}: {}", path.display(), merganser_io::reason(source))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory for the job.
    #[error(transparent)]
    GpuMemory(#[from] GpuShortage),
    /// Reads that do not go together, or a reference that cannot be used.
    #[error("{0}")]
    Input(String),
}

merganser_io::impl_fault!(
    Error,
    Taxonomy(merganser_taxonomy::Error),
    Library(merganser_library::Error),
    Report(merganser_taxreport::Error),
    Kraken2(merganser_kraken2::Error)
);
merganser_io::impl_from_text_error!(Error);

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &std::path::Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
