//! What can go wrong while building, opening or using a database of Kraken 2.

use std::path::{Path, PathBuf};

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
        /// A file is not what it should be.
        #[error("{}: {reason}", path.display())]
        Content {
            /// The file.
            path: PathBuf,
            /// What is wrong with it, where, and what to do.
            reason: String,
        },
        /// A file could not be opened or read.
        #[error("{}: {}", path.display(), merganser_io::reason(source))]
        File {
            /// The file.
            path: PathBuf,
            /// What the system said.
            source: std::io::Error,
        },
        /// A library or reads that cannot be used.
        #[error("{0}")]
        Input(String),
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
    boxes {
        /// A taxonomy cannot be read.
        Taxonomy(merganser_taxonomy::Error),
        /// The taxids of a library's sequences cannot be found.
        Library(merganser_library::Error),
        /// Partial results cannot be read or written.
        Report(merganser_taxreport::Error),
    }
}

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
