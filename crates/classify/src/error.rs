//! What can go wrong while building, reading or querying a database.

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
    /// A parameter is out of its range, or two do not go together.
    #[error("{0}")]
    Config(String),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The memory does not suffice for the job.
    #[error(
        "{what} needs at least {} of memory, and --memory gives {}: raise it, {remedy}",
        merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
    )]
    TooLittleMemory {
        /// The job.
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may use.
        budget: u64,
        /// What else to do.
        remedy: &'static str,
    },
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
    #[error(
        "cuda:{ordinal} has {} of memory for {what} and at least {} are needed: raise --gpu-memory, \
         build the database with --max-part-size, or use --device cpu",
        merganser_run::format_given(*available), merganser_run::format_needed(*needed)
    )]
    TooLittleGpuMemory {
        /// The device's number.
        ordinal: u32,
        /// What it is for.
        what: &'static str,
        /// Bytes that it has.
        available: u64,
        /// Bytes that it should have.
        needed: u64,
    },
    /// Reads that do not go together, or a reference that cannot be used.
    #[error("{0}")]
    Input(String),
}

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &std::path::Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
