//! What can go wrong while indexing and mapping.

use merganser_run::{ConfigError, GpuShortage, Shortage};
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
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The reference or the reads are at fault; the message names file and record.
    #[error("{0}")]
    Input(String),
    /// Reads were given as the reference.
    #[error(
        "{0}: holds reads with qualities, and the reference must be FASTA or an index: give the \
         reference first, then the reads"
    )]
    ReadsAsReference(String),
    /// A read or pair has more hits than there is memory for.
    #[error("read {}: has more hits than `memory` has room for", read + 1)]
    Crowded {
        /// The number of the read among those that were mapped together, from 0.
        read: usize,
    },
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
    /// The memory does not suffice for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory for the job.
    #[error(transparent)]
    GpuMemory(#[from] GpuShortage),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

merganser_io::impl_fault!(Error);

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        use merganser_alignments::Error as Writing;
        match error {
            Writing::Io(error) => Error::Io(error),
            Writing::Output(error) => Error::Output(error),
            Writing::File { path, source } => Error::File { path, source },
            Writing::Memory(shortage) => Error::Memory(shortage),
            Writing::Start(error) => Error::Start(error),
            Writing::Cancelled => Error::Cancelled,
        }
    }
}

impl Error {
    pub(crate) fn index(path: &Path, problem: impl Into<String>) -> Error {
        Error::Index { path: path.to_owned(), problem: problem.into() }
    }
}
