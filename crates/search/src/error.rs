//! Errors of the search.

merganser_io::file_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
        /// A pattern is invalid.
        #[error("pattern {name}: {problem}")]
        Pattern {
            /// The name of the pattern.
            name: String,
            /// The problem, and what to do.
            problem: String,
        },
        /// The patterns match almost everywhere.
        #[error(
            "{place}: the patterns match at more places of a batch than `memory` gives room for: give fewer edits (`threshold`), longer patterns, or more memory"
        )]
        TooMany {
            /// The file and the record.
            place: String,
        },
    }
    wraps {
        /// An index that is searched cannot be opened.
        Index(#[from] merganser_map::Error),
        /// A GPU failed or cannot be used.
        Gpu(#[from] merganser_gpu::Error),
    }
}

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        error.into_job()
    }
}
