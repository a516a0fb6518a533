//! What can go wrong while preparing a library or looking for taxids.

use std::path::{Path, PathBuf};

use merganser_run::{ConfigError, StartError};

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// The list of missing genomes could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A taxonomy, or a table of taxids, cannot be read.
    #[error(transparent)]
    Taxonomy(Box<merganser_taxonomy::Error>),
    /// A parameter is out of its range, or two do not go together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
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
    /// Genomes that cannot be used.
    #[error("{0}")]
    Input(String),
}

merganser_io::impl_fault!(Error, Taxonomy(merganser_taxonomy::Error));
merganser_io::impl_from_text_error!(Error);

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
