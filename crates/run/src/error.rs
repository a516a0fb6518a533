//! The errors of this crate.

use std::io;
use std::path::PathBuf;

/// An error of the parts that all runs share.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A size option could not be parsed.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The JSON summary could not be written.
    #[error("{path}: cannot write the JSON summary: {cause}", path = path.display())]
    Summary {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
}

/// The error of a text that is not a size in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// Not a number followed by a known unit.
    #[error("'{text}' is not a size: give a number and K, M, G or T, e.g. 500M or 4G")]
    Malformed {
        /// The text.
        text: String,
    },
    /// A small number without a unit, which probably means gigabytes, as in other tools.
    #[error("'{text}' is {text} bytes: give a unit, e.g. {text}G")]
    NoUnit {
        /// The text.
        text: String,
    },
    /// The size is zero.
    #[error("'{text}' is zero: give a size of at least one byte, e.g. 4G")]
    Zero {
        /// The text.
        text: String,
    },
    /// The size exceeds 64 bits.
    #[error("'{text}' is too large: sizes go up to 16777215T")]
    TooLarge {
        /// The text.
        text: String,
    },
}
