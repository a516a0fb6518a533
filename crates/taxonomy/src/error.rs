//! What can go wrong while reading a taxonomy.

use std::path::{Path, PathBuf};

use merganser_run::{ConfigError, Fault, FaultKind, Shortage};

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// The taxonomy is another one than a database was built with.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The memory does not suffice for the taxonomy.
    #[error(transparent)]
    Memory(#[from] Shortage),
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
}

merganser_io::impl_from_text_error!(Error);

impl Fault for Error {
    fn kind(&self) -> FaultKind {
        match self {
            Error::Io(error) => error.kind(),
            Error::Config(error) => error.kind(),
            _ => FaultKind::Failed,
        }
    }
}

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
