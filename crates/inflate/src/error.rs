//! The errors of this crate.

use std::io;

use crate::deflate::Fault;

/// An error of inflating compressed data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The data end before they are complete.
    #[error("the compressed data end before they are complete")]
    Truncated,
    /// The data are invalid, or a checksum is wrong.
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

/// Converts the error to the kinds that other readers use: [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) and
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
