//! The errors of this crate.

use std::io;
use std::path::PathBuf;

/// Why a run's own bookkeeping failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A size option could not be understood.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The JSON summary could not be written.
    #[error("{path}: cannot write the JSON summary: {cause}", path = path.display())]
    Summary {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Why a text is not a size in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// Not a number followed by a known unit.
    #[error("'{text}' is not a size: give a number and K, M, G or T, e.g. 500M or 4G")]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// A small number without a unit, which is meant to be one of gigabytes as in other tools.
    #[error("'{text}' is {text} bytes: give a unit, e.g. {text}G")]
    NoUnit {
        /// The text as given.
        text: String,
    },
    /// Zero bytes of anything is of no use.
    #[error("'{text}' is zero: give a size of at least one byte, e.g. 4G")]
    Zero {
        /// The text as given.
        text: String,
    },
    /// More bytes than 64 bits hold.
    #[error("'{text}' is too large: sizes go up to 16777215T")]
    TooLarge {
        /// The text as given.
        text: String,
    },
}
