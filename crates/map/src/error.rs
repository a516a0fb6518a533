//! What can go wrong while indexing and mapping.

use std::path::{Path, PathBuf};

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
    /// The filter refused its parameters.
    #[error(transparent)]
    Filter(#[from] merganser_filter::Error),
    /// A parameter is out of its range, or two do not go together.
    #[error("{0}")]
    Config(String),
    /// The reference or the reads are at fault; the message names file and record.
    #[error("{0}")]
    Input(String),
    /// Reads were given as the reference.
    #[error(
        "{0}: holds reads with qualities, and the reference must be FASTA or an index: give the \
         reference first, then the reads"
    )]
    ReadsAsReference(String),
    /// A file cannot be opened or mapped.
    #[error("{path}: cannot open: {}", merganser_io::reason(source), path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An index is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Index {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The memory budget cannot hold what the run needs.
    #[error(
        "{what} needs at least {} of memory, and --memory gives {}: raise it, or lower --threads",
        merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
    )]
    TooLittleMemory {
        /// Who needs it.
        what: String,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that may be used.
        budget: u64,
    },
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory.
    #[error(
        "cuda:{ordinal} has {} of memory and {what} needs at least {}: raise --gpu-memory, or use \
         --device cpu",
        merganser_run::format_given(*available), merganser_run::format_needed(*needed)
    )]
    TooLittleGpuMemory {
        /// The device's number.
        ordinal: u32,
        /// Who needs it.
        what: &'static str,
        /// Bytes that it has.
        available: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

impl Error {
    pub(crate) fn index(path: &Path, problem: impl Into<String>) -> Error {
        Error::Index { path: path.to_owned(), problem: problem.into() }
    }
}
