//! What can go wrong while filtering.

use merganser_run::{ConfigError, GpuShortage, Shortage};

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
    /// The memory does not suffice for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory for the job.
    #[error(transparent)]
    GpuMemory(#[from] GpuShortage),
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
}

merganser_io::impl_fault!(Error);
