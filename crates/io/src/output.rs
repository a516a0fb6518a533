//! Result files, which appear whole or not at all.

mod atomic;
mod bgzf;
pub(crate) mod temporaries;

pub use atomic::AtomicFile;
pub use temporaries::{MadeDirectories, remove_temporaries};

use crate::Error;
use bgzf::BgzfWriter;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where results go: standard output, a file, or a compressed file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Standard output.
    Stdout(BufWriter<Stdout>),
    /// A file that appears when finished.
    File(AtomicFile),
    /// The same, gzip-compressed (as BGZF, so that it can be inflated in parallel and indexed).
    /// The bytes depend on nothing but the text.
    Gz(Box<BgzfWriter>),
}

impl Output {
    /// The output that `path` names: `-` is standard output, a name that ends in `.gz` (in any
    /// case) a compressed file, anything else a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be created; see [`AtomicFile::create`].
    pub fn create(path: &Path) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())));
        }
        let file = AtomicFile::create(path)?;
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            return Ok(Self::Gz(Box::new(BgzfWriter::new(file))));
        }
        Ok(Self::File(file))
    }

    /// Writes all of it, to disk too, so that a file needs but its name: [`finish`](Self::finish) gives
    /// it that. For several files that shall appear together. Nothing more can be written.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; there is then no file.
    pub fn prepare(self) -> Result<Self, Error> {
        let mut file = match self {
            Self::Stdout(mut stdout) => {
                stdout.flush().map_err(stdout_error)?;
                return Ok(Self::Stdout(stdout));
            }
            Self::File(file) => file,
            Self::Gz(writer) => writer.finish()?,
        };
        file.prepare()?;
        Ok(Self::File(file))
    }

    /// Writes what is buffered and makes the file appear. Returns how long the final
    /// synchronisation with the disk took.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; there is then no file.
    pub fn finish(self) -> Result<Duration, Error> {
        match self {
            Self::Stdout(mut stdout) => {
                stdout.flush().map_err(stdout_error)?;
                Ok(Duration::ZERO)
            }
            Self::File(file) => file.commit(),
            Self::Gz(writer) => writer.finish()?.commit(),
        }
    }
}

/// Makes several outputs appear together, in their order: none does before all are written, to disk
/// too, as far as they are files. Returns how long that took.
///
/// # Errors
///
/// If one cannot be written; there is then no file. If one cannot be given its name, those before
/// it are there.
pub fn finish_all(outputs: impl IntoIterator<Item = Output>) -> Result<Duration, Error> {
    let begun = Instant::now();
    let all: Vec<Output> = outputs.into_iter().collect();
    let files = all.iter().any(|output| !matches!(output, Output::Stdout(_)));
    let ready = all.into_iter().map(Output::prepare).collect::<Result<Vec<_>, _>>()?;
    for output in ready {
        output.finish()?;
    }
    Ok(if files { begun.elapsed() } else { Duration::ZERO })
}

/// Errors are [`Error`]s within, and so name the file.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes).map_err(|error| stdout_error(error).into()),
            Self::File(file) => file.write(bytes),
            Self::Gz(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush().map_err(|error| stdout_error(error).into()),
            Self::File(file) => file.flush(),
            Self::Gz(writer) => writer.flush(),
        }
    }
}

fn stdout_error(cause: io::Error) -> Error {
    Error::Write { path: "stdout".into(), cause: Arc::new(cause) }
}
