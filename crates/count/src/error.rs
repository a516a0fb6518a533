//! What can go wrong while counting.

/// An error of this crate; its message is one line that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input, output or temporary storage failed.
    #[error(transparent)]
    Io(#[from] merganser_io::Error),
    /// A result could not be written; the message names the file.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// A parameter is out of its range, or two do not go together.
    #[error("{0}")]
    Config(String),
    /// The memory budget cannot hold even the fixed buffers.
    #[error(
        "{threads} threads and {bins} bins need at least {} of memory, and --memory gives {}: \
         raise it, or lower --threads or --bins",
        merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
    )]
    TooLittleMemory {
        /// Bytes that the run needs before it has read anything.
        needed: u64,
        /// Bytes that it may use.
        budget: u64,
        /// Worker threads.
        threads: usize,
        /// Bins.
        bins: usize,
    },
    /// `--storage ram` was asked for and the super-k-mers or results do not fit.
    #[error(
        "the bins do not fit in the {} that --memory leaves for them: raise --memory, or use \
         --storage auto or disk",
        merganser_run::format_size(*limit)
    )]
    RamFull {
        /// Bytes that the blocks in memory may take.
        limit: u64,
    },
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Gpu(#[from] merganser_gpu::Error),
    /// A GPU has too little memory to count on.
    #[error(
        "cuda:{ordinal} has {} for k-mers and at least {} are needed: raise --gpu-memory, or use \
         --device cpu",
        merganser_run::format_given(*available), merganser_run::format_needed(*needed)
    )]
    TooLittleGpuMemory {
        /// The device.
        ordinal: u32,
        /// Bytes that are free there, or that `--gpu-memory` allows.
        available: u64,
        /// Bytes that the smallest buffers take.
        needed: u64,
    },
    /// A thread cannot be started.
    #[error(transparent)]
    Start(#[from] merganser_run::StartError),
    /// The run was cancelled (Ctrl-C).
    #[error("interrupted")]
    Cancelled,
    /// What else went wrong with the table that is written.
    #[error(transparent)]
    Table(merganser_kmers::Error),
}

impl From<merganser_kmers::Error> for Error {
    /// What both crates name is named once, so that callers need not look for it in two places.
    fn from(error: merganser_kmers::Error) -> Error {
        use merganser_kmers::Error as Of;
        match error {
            Of::Io(error) => Error::Io(error),
            Of::Output(error) => Error::Output(error),
            Of::Config(message) => Error::Config(message),
            Of::RamFull { limit } => Error::RamFull { limit },
            Of::Gpu(error) => Error::Gpu(error),
            Of::Start(error) => Error::Start(error),
            Of::Cancelled => Error::Cancelled,
            other => Error::Table(other),
        }
    }
}
