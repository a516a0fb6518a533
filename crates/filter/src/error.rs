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
    /// The memory budget cannot hold even the smallest blocks.
    #[error(
        "{threads} threads need at least {} of memory, and --memory gives {}: raise it, or lower \
         --threads",
        merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
    )]
    TooLittleMemory {
        /// Bytes that the run needs before it has read anything.
        needed: u64,
        /// Bytes that it may use.
        budget: u64,
        /// Worker threads.
        threads: usize,
    },
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory to filter on.
    #[error(
        "cuda:{ordinal} has {} for filtering and at least {} are needed: raise --gpu-memory, or \
         use --device cpu",
        merganser_run::format_given(*available), merganser_run::format_needed(*needed)
    )]
    TooLittleGpuMemory {
        /// The device.
        ordinal: u32,
        /// Bytes that are free there, or that `--gpu-memory` allows.
        available: u64,
        /// Bytes that the buffers of a stream take.
        needed: u64,
    },
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}
