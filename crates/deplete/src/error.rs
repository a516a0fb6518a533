//! Errors of sets and of depletion.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
        /// A file cannot be opened or read.
        #[error("{path}: cannot read: {}", merganser_io::reason(source), path = path.display())]
        File {
            /// The file.
            path: PathBuf,
            /// The error of the system.
            source: std::io::Error,
        },
        /// A set is invalid.
        #[error("{path}: {problem}", path = path.display())]
        Set {
            /// The file.
            path: PathBuf,
            /// The problem, and what to do.
            problem: String,
        },
        /// Sets with different parameters cannot be combined.
        #[error("{0}")]
        Mixed(String),
        /// There are no minimizers; the text says why.
        #[error("{0}")]
        Empty(String),
    }
    wraps {
        /// The search in the host's haplotypes failed.
        Map(#[from] merganser_map::Error),
    }
}

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        error.into_job()
    }
}

impl Error {
    pub(crate) fn set(path: &Path, problem: impl Into<String>) -> Error {
        Error::Set { path: path.to_owned(), problem: problem.into() }
    }
}
