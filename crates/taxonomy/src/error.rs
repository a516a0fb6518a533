//! Errors of reading a taxonomy.

merganser_io::file_error! {
    /// An error of this crate. Its message is one line: what is wrong, where, and what to do.
    pub enum Error {}
}
