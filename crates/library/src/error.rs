//! Errors of preparing a library or finding taxids.

merganser_io::file_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {}
    boxes {
        /// A taxonomy, or a table of taxids, cannot be read.
        Taxonomy(merganser_taxonomy::Error),
    }
}
