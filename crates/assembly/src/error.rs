//! Errors of this crate.

use std::path::PathBuf;

use merganser_io::{FileKind, Input};

merganser_io::job_error! {
    /// An error of an evaluation; its message is one line that tells what is wrong, where, and what to do.
    pub enum Error {
        /// An assembly has no k-mers.
        #[error("{input}: contains no k-mer of {k} bases: give an assembly with longer sequences")]
        Empty {
            /// The assembly.
            input: Input,
            /// The length of k-mers.
            k: usize,
        },
        /// The reads have no k-mers.
        #[error(
            "{reads}: contains no k-mer of {k} bases: is it empty? Reads of {k} bases or more are needed"
        )]
        NoReads {
            /// The name of the reads or of their table.
            reads: String,
            /// The length of k-mers.
            k: usize,
        },
        /// An assembly has a format of reads.
        #[error("{input}: is {kind}: an assembly is expected here, in FASTA; give several files of reads as @LIST")]
        OfReads {
            /// The assembly.
            input: Input,
            /// Its format.
            kind: FileKind,
        },
        /// An input that is read more than once is not a file.
        #[error(
            "{input}: is no regular file, and these tracks read sequences twice: write them to a file first, and name that"
        )]
        ReadTwice {
            /// The input.
            input: Input,
        },
        /// The coverage cannot be determined from the reads.
        #[error("{}: {why}; give the count of a k-mer that occurs once as `coverage`", path.display())]
        Coverage {
            /// The table of the reads.
            path: PathBuf,
            /// The reason.
            why: merganser_spectrum::Error,
        },
    }
    wraps {
        /// Counting k-mers failed.
        Count(merganser_count::Error),
        /// A table is unsuitable or damaged, or a computation with tables failed.
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
