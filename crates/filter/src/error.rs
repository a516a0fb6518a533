//! Errors of filtering.

merganser_io::job_error! {
    /// An error of filtering. Its message is one line: what is wrong, where, and what to do.
    pub enum Error {
        /// A sequence has a byte that is not an IUPAC letter.
        #[error("{} at base {} is no letter of DNA", merganser_io::shown_byte(*byte), at + 1)]
        Letter {
            /// The index of the byte in the sequence.
            at: usize,
            /// The byte.
            byte: u8,
        },
        /// A sequence has 2^32 bases or more.
        #[error("{bases} bases are too many for a filter of reads, which takes fewer than 4294967296")]
        Long {
            /// The length of the sequence.
            bases: usize,
        },
        /// A line of a file of pairs is malformed.
        #[error("{input}: line {line}: {problem}")]
        Line {
            /// The input, as given.
            input: String,
            /// The number of the line in the decompressed file, from 1.
            line: u64,
            /// The problem and the remedy.
            problem: String,
        },
        /// A record of two files of sequences is malformed.
        #[error("{input}: record {record}: {problem}")]
        Record {
            /// The input, as given.
            input: String,
            /// The number of the record in the file, from 1.
            record: u64,
            /// The problem and the remedy.
            problem: String,
        },
        /// Two files of sequences have different numbers of records.
        #[error(
            "{shorter}: ends after {records} records, and {longer} has more; each read needs a segment"
        )]
        Unpaired {
            /// The input that ends first.
            shorter: String,
            /// The number of its records.
            records: u64,
            /// The other input.
            longer: String,
        },
    }
    wraps {
        /// A GPU failed or cannot be used.
        Gpu(#[from] merganser_gpu::Error),
    }
}
