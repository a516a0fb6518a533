//! Errors of building, reading or querying a database.

merganser_io::file_error! {
    /// An error of this crate. Its message is one line: what is wrong, where, and what to do.
    pub enum Error {}
    wraps {
        /// A GPU cannot be used or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
    boxes {
        /// A taxonomy or a table of taxids cannot be read.
        Taxonomy(merganser_taxonomy::Error),
        /// A library, its manifest or the taxids of its sequences cannot be read.
        Library(merganser_library::Error),
        /// A report or other results cannot be read, written or joined.
        Report(merganser_taxreport::Error),
        /// Partial results or simulated reads of a Kraken 2 database cannot be read.
        Kraken2(merganser_kraken2::Error),
    }
}
