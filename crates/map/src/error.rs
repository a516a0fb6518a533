//! Errors of indexing and mapping.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of indexing or mapping. Its message is one line: what is wrong, where, and what to do.
    pub enum Error {
        /// The reference or the reads are invalid; the message names file and record.
        #[error("{0}")]
        Input(String),
        /// Reads were given as the reference.
        #[error(
            "{0}: holds reads with qualities, and the reference must be FASTA or an index: give the \
             reference first, then the reads"
        )]
        ReadsAsReference(String),
        /// A read or pair has more hits than fit into memory.
        #[error("read {}: has more hits than fit into `memory`", read + 1)]
        Crowded {
            /// The number of the read among those mapped together, from 0.
            read: usize,
        },
        /// A file cannot be opened or mapped.
        #[error("{path}: cannot open: {}", merganser_io::reason(source), path = path.display())]
        File {
            /// The file.
            path: PathBuf,
            /// The system's error.
            source: std::io::Error,
        },
        /// An index file is invalid.
        #[error("{path}: {problem}", path = path.display())]
        Index {
            /// The file.
            path: PathBuf,
            /// The problem and the remedy.
            problem: String,
        },
    }
    wraps {
        /// The filter rejected its parameters.
        Filter(#[from] merganser_filter::Error),
        /// A GPU failed or cannot be used.
        Gpu(#[from] merganser_gpu::Error),
    }
}

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        error.into_job()
    }
}

impl Error {
    pub(crate) fn index(path: &Path, problem: impl Into<String>) -> Error {
        Error::Index { path: path.to_owned(), problem: problem.into() }
    }
}
