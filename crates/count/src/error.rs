//! Errors of counting.

merganser_io::job_error! {
    /// An error of this crate; the one-line message says what is wrong, where, and what to do.
    pub enum Error {
    }
    wraps {
        /// A GPU cannot be used, or has failed.
        Gpu(#[from] merganser_gpu::Error),
        /// Any other error of the table that is written.
        Table(merganser_kmers::Error),
    }
}

impl From<merganser_kmers::Error> for Error {
    /// Maps variants that both crates have to the variant here, so that callers check for each in one place.
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
