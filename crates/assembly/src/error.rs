//! What can go wrong while assemblies are judged.

use merganser_io::Input;
use merganser_run::{ConfigError, Shortage};

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
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// k-mers could not be counted.
    #[error(transparent)]
    Count(merganser_count::Error),
    /// A table is at fault, or could not be computed with.
    #[error(transparent)]
    Kmers(merganser_kmers::Error),
    /// The memory does not suffice.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// There is nothing to judge.
    #[error("{input}: no k-mer of {k} bases is in it: an assembly with longer sequences is needed")]
    Empty {
        /// The assembly.
        input: Input,
        /// Bases of a k-mer.
        k: usize,
    },
    /// The reads have no k-mers.
    #[error(
        "{reads}: no k-mer of {k} bases is in it: is it empty? Reads of {k} bases or more are needed"
    )]
    NoReads {
        /// The reads, or their table.
        reads: String,
        /// Bases of a k-mer.
        k: usize,
    },
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

merganser_io::impl_fault!(Error);

impl From<merganser_count::Error> for Error {
    fn from(error: merganser_count::Error) -> Error {
        match error {
            merganser_count::Error::Cancelled => Error::Cancelled,
            error => Error::Count(error),
        }
    }
}

impl From<merganser_kmers::Error> for Error {
    fn from(error: merganser_kmers::Error) -> Error {
        match error {
            merganser_kmers::Error::Cancelled => Error::Cancelled,
            merganser_kmers::Error::Output(error) => Error::Output(error),
            error => Error::Kmers(error),
        }
    }
}
