//! What can go wrong while counting.

use merganser_run::{ConfigError, GpuShortage, Shortage};

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
    /// What else went wrong with the table that is written.
    #[error(transparent)]
    Table(merganser_kmers::Error),
}

merganser_io::impl_fault!(Error);

impl From<merganser_kmers::Error> for Error {
    /// What both crates name is named once, so that callers need not look for it in two places.
    fn from(error: merganser_kmers::Error) -> Error {
        use merganser_kmers::Error as Of;
        match error {
            Of::Io(error) => Error::Io(error),
            Of::Output(error) => Error::Output(error),
            Of::Config(error) => Error::Config(error),
            Of::Memory(error) => Error::Memory(error),
            Of::GpuMemory(error) => Error::GpuMemory(error),
            Of::Gpu(error) => Error::Gpu(error),
            Of::Start(error) => Error::Start(error),
            Of::Cancelled => Error::Cancelled,
            other => Error::Table(other),
        }
    }
}
