//! Errors of building, opening or using a Kraken 2 database.

merganser_io::file_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {}
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
