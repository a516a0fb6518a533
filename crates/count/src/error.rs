//! What can go wrong while counting.

merganser_io::job_error! {
    /// An error of this crate; its message is one line that says what, where, and what to do.
    pub enum Error {
    }
    wraps {
        /// A GPU cannot be used, or failed.
        Gpu(#[from] merganser_gpu::Error),
        /// What else went wrong with the table that is written.
        Table(merganser_kmers::Error),
    }
}

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
