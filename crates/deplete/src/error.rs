//! What can go wrong while a set is made or used.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
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
    }
}

impl Error {
    pub(crate) fn set(path: &Path, problem: impl Into<String>) -> Error {
        Error::Set { path: path.to_owned(), problem: problem.into() }
    }
}
