//! The errors of writing records.

use std::path::PathBuf;

use merganser_run::{Cancelled, Fault, FaultKind, Shortage, StartError};

/// An error of this crate. Its message is one line: what is wrong, where, and what to do. Jobs convert it to their
/// own errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// A result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A file cannot be read.
    #[error("{path}: cannot open: {}", merganser_io::reason(source), path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The memory is too small for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

impl Fault for Error {
    fn kind(&self) -> FaultKind {
        match self {
            Error::Io(error) => error.kind(),
            Error::Output(error) => merganser_io::kind_of(error),
            Error::Cancelled => FaultKind::Cancelled,
            _ => FaultKind::Failed,
        }
    }
}
