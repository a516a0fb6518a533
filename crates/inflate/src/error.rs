//! The errors of this crate.

use std::io;

use crate::deflate::Fault;

/// Why compressed data cannot be inflated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The data end before they are complete.
    #[error("the compressed data end before they are complete")]
    Truncated,
    /// The data are not valid, or a checksum is wrong.
    #[error("{0}")]
    Corrupt(String),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match fault {
            Fault::Input => Error::Truncated,
            Fault::Invalid(detail) => Error::Corrupt(detail.to_owned()),
        }
    }
}

/// Words the error as readers of other crates do: [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) and
/// [`InvalidData`](io::ErrorKind::InvalidData).
impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Read(error) => error,
            Error::Truncated => io::ErrorKind::UnexpectedEof.into(),
            Error::Corrupt(detail) => io::Error::new(io::ErrorKind::InvalidData, detail),
        }
    }
}
