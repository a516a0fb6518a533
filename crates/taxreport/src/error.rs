//! Errors of reading or writing results.

merganser_io::file_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {}
    boxes {
        /// A taxonomy cannot be read.
        Taxonomy(merganser_taxonomy::Error),
    }
}

impl From<merganser_alignments::Error> for Error {
    fn from(error: merganser_alignments::Error) -> Error {
        error.into_job()
    }
}
