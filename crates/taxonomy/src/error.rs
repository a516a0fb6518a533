//! What can go wrong while reading a taxonomy.

merganser_io::file_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {}
}
