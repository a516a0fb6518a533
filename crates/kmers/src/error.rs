//! Errors of this crate.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error about tables; its message is one line that tells what is wrong, where, and what to do.
    pub enum Error {
        /// Not even one range of a table fits into memory.
        #[error(
            "{}: needs {} of memory, and `memory` gives {}: raise it, or use a smaller table \
             (TABLE:MIN..MAX, or merganser kmers reduce)",
            path.display(), merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
        )]
        TableTooLargeForMemory {
            /// The table.
            path: PathBuf,
            /// The memory that the run needs, in bytes.
            needed: u64,
            /// The memory that the run may use, in bytes.
            budget: u64,
        },
        /// A table file is invalid or unsuitable.
        #[error("{}: {reason}", path.display())]
        Table {
            /// The table.
            path: PathBuf,
            /// The problem and its remedy.
            reason: String,
        },
        /// A file could not be opened, read or mapped.
        #[error("{}: {}", path.display(), merganser_io::reason(source))]
        File {
            /// The file.
            path: PathBuf,
            /// The error of the system.
            source: std::io::Error,
        },
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
}

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        error.into_job()
    }
}

/// Returns the error for a table that is invalid or unsuitable.
pub(crate) fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::Table { path: path.to_owned(), reason: reason.into() }
}
