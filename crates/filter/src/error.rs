//! What can go wrong while filtering.

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
        /// A sequence holds a byte that is no letter of the IUPAC alphabet.
        #[error("{} at base {} is no letter of DNA", merganser_io::shown_byte(*byte), at + 1)]
        Letter {
            /// Its index in the sequence.
            at: usize,
            /// The byte.
            byte: u8,
        },
        /// A line of a file of pairs is malformed.
        #[error("{input}: line {line}: {problem}")]
        Line {
            /// The input, as given.
            input: String,
            /// The line's number in the file (after decompression), from 1.
            line: u64,
            /// What is wrong with it and what to do.
            problem: String,
        },
        /// A record of two files of sequences is malformed.
        #[error("{input}: record {record}: {problem}")]
        Record {
            /// The input, as given.
            input: String,
            /// The record's number in the file, from 1.
            record: u64,
            /// What is wrong with it and what to do.
            problem: String,
        },
        /// Two files of sequences have different numbers of records.
        #[error(
            "{shorter}: ends after {records} records, and {longer} has more; each read needs a segment"
        )]
        Unpaired {
            /// The input that ends first.
            shorter: String,
            /// Its records.
            records: u64,
            /// The other one.
            longer: String,
        },
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
    }
}
