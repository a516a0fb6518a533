//! The errors of writing records.

use std::path::PathBuf;

use merganser_run::{Cancelled, ConfigError, Fault, FaultKind, Shortage, StartError};

/// An error of this crate. Its message is one line: what is wrong, where, and what to do. Jobs convert it to [their
/// own errors](Error::into_job).
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
    /// Two parameters cannot be used together.
    #[error(transparent)]
    Config(#[from] ConfigError),
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

impl Error {
    /// Converts the error to that of a job.
    pub fn into_job<E>(self) -> E
    where
        E: From<merganser_io::Error>
            + From<std::io::Error>
            + From<ConfigError>
            + From<Shortage>
            + From<StartError>
            + From<Cancelled>,
    {
        match self {
            Error::Io(error) => error.into(),
            Error::Output(error) => error.into(),
            Error::File { path, source } => {
                let (input, reason) = (path.display().to_string(), merganser_io::reason(&source));
                merganser_io::Error::Open { input, reason }.into()
            }
            Error::Config(error) => error.into(),
            Error::Memory(shortage) => shortage.into(),
            Error::Start(error) => error.into(),
            Error::Cancelled => Cancelled.into(),
        }
    }
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
            Error::Config(error) => error.kind(),
            Error::Cancelled => FaultKind::Cancelled,
            _ => FaultKind::Failed,
        }
    }
}
