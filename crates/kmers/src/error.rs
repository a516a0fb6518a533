//! What can go wrong with tables.

use merganser_run::{ConfigError, GpuShortage, Shortage};
use std::path::PathBuf;

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
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The memory does not suffice for the job.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// Not even a part of a table fits into the memory.
    #[error(
        "{}: needs {} of memory, and `memory` gives {}: raise it, or take fewer of its k-mers \
         (TABLE:MIN..MAX of a smaller table, by merganser kmers reduce)",
        path.display(), merganser_run::format_needed(*needed), merganser_run::format_given(*budget)
    )]
    TableTooLargeForMemory {
        /// The table.
        path: PathBuf,
        /// Bytes that the run needs.
        needed: u64,
        /// Bytes that it may use.
        budget: u64,
    },
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
    /// A table file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// A file could not be opened, read or mapped.
    #[error("{}: {}", path.display(), merganser_io::reason(source))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

merganser_io::impl_fault!(Error);
