//! What can go wrong while assemblies are judged.

use merganser_io::Input;

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
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
    }
    wraps {
        /// k-mers could not be counted.
        Count(merganser_count::Error),
        /// A table is at fault, or could not be computed with.
        Kmers(merganser_kmers::Error),
    }
}

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
