//! What can go wrong while indexing and mapping.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
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
    }
    wraps {
        /// The filter refused its parameters.
        Filter(#[from] merganser_filter::Error),
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
}

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
