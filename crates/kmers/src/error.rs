//! What can go wrong with tables.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
        /// Not even a part of a table fits into the memory.
        #[error(
            "{}: needs {} of memory, and `memory` gives {}: raise it, or take fewer of its k-mers \
             (TABLE:MIN..MAX of a smaller table, by merganser kmers reduce)",
            path.display(), merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
        )]
        TableTooLargeForMemory {
            /// The table.
            path: PathBuf,
            /// Bytes that the run needs.
            needed: u64,
            /// Bytes that it may use.
            budget: u64,
        },
        /// A table file is not what it should be.
        #[error("{}: {reason}", path.display())]
        Table {
            /// The table.
            path: PathBuf,
            /// What is wrong with it and what to do.
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
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
}

/// Returns the error for a table that is not what it should be.
pub(crate) fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::Table { path: path.to_owned(), reason: reason.into() }
}
