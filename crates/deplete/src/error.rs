//! What can go wrong while a set is made or used.

use std::path::{Path, PathBuf};

use merganser_run::{ConfigError, Shortage};

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// A result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A parameter is out of its range, or two do not go together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file cannot be opened or read.
    #[error("{path}: cannot read: {}", merganser_io::reason(source), path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A set is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Set {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// Sets of different minimizers do not go together.
    #[error("{0}")]
    Mixed(String),
    /// There are no minimizers, and why.
    #[error("{0}")]
    Empty(String),
    /// The memory does not suffice for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

merganser_io::impl_fault!(Error);

impl Error {
    pub(crate) fn set(path: &Path, problem: impl Into<String>) -> Error {
        Error::Set { path: path.to_owned(), problem: problem.into() }
    }
}
