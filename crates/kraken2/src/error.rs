//! What can go wrong while building, opening or using a database of Kraken 2.

use std::path::{Path, PathBuf};

use merganser_run::{ConfigError, GpuShortage, Shortage, StartError};

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// The result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A taxonomy cannot be read.
    #[error(transparent)]
    Taxonomy(Box<merganser_taxonomy::Error>),
    /// The taxids of a library's sequences cannot be found.
    #[error(transparent)]
    Library(Box<merganser_library::Error>),
    /// Partial results cannot be read or written.
    #[error(transparent)]
    Report(Box<merganser_taxreport::Error>),
    /// A parameter is out of its range, or two do not go together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
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
    /// A file could not be opened or read.
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
    /// A library or reads that cannot be used.
    #[error("{0}")]
    Input(String),
}

merganser_io::impl_fault!(
    Error,
    Taxonomy(merganser_taxonomy::Error),
    Library(merganser_library::Error),
    Report(merganser_taxreport::Error)
);

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
