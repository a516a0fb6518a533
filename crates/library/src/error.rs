//! What can go wrong while preparing a library or looking for taxids.

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
        /// Genomes that cannot be used.
        #[error("{0}")]
        Input(String),
    }
    boxes {
        /// A taxonomy, or a table of taxids, cannot be read.
        Taxonomy(merganser_taxonomy::Error),
    }
}

merganser_io::impl_from_text_error!(Error);

impl Error {
    /// The error for a file whose content is wrong.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Error {
        Error::Content { path: path.to_owned(), reason: reason.into() }
    }
}
