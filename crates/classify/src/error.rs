//! What can go wrong while building, reading or querying a database.

use std::path::PathBuf;

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
        /// A file could not be opened, read or mapped.
        #[error("{}: {}", path.display(), merganser_io::reason(source))]
        File {
            /// The file.
            path: PathBuf,
            /// What the system said.
            source: std::io::Error,
        },
        /// Reads that do not go together, or a reference that cannot be used.
        #[error("{0}")]
        Input(String),
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
    boxes {
        /// A taxonomy, or a table of taxids, cannot be read.
        Taxonomy(merganser_taxonomy::Error),
        /// A library, its manifest or the taxids of its sequences cannot be read.
        Library(merganser_library::Error),
        /// A report or other results cannot be read, written or joined.
        Report(merganser_taxreport::Error),
        /// Partial results or simulated reads of a Kraken 2 database cannot be read.
        Kraken2(merganser_kraken2::Error),
    }
}

merganser_io::impl_from_text_error!(Error);

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &std::path::Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
