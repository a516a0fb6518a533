//! What can go wrong while filtering.

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// A result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A parameter is out of its range, or two do not go together.
    #[error("{0}")]
    Config(String),
    /// A sequence holds a byte that is no letter of the IUPAC alphabet.
    #[error("{} at base {} is no letter of DNA", shown(*byte), at + 1)]
    Letter {
        /// Its index in the sequence.
        at: usize,
        /// The byte.
        byte: u8,
    },
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

/// A byte as users see it in a text.
pub(crate) fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte 0x{byte:02x}")
    }
}
