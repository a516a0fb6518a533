//! Result files, which appear complete or not at all.

mod atomic;
mod bgzf;
mod folder;
mod made;
mod member;
mod named;
mod replaced;
mod resolved;
mod set;
mod stdout;
pub(crate) mod temporaries;

pub use atomic::{AtomicFile, check_creation};
pub use folder::TemporaryFolder;
pub use made::MadeDirectories;
pub use replaced::check_output;
pub(crate) use resolved::resolve_output;
pub use set::OutputSet;
pub use stdout::StdoutWriter;
pub use temporaries::{outputs_have_appeared, remove_temporaries};

use crate::{Error, OutputCompression};
use bgzf::BgzfWriter;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// A destination of results: standard output, a file, or a compressed file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Standard output.
    Stdout(Box<StdoutWriter>),
    /// A file that appears when it is finished.
    File(AtomicFile),
    /// A file with gzip compression that appears when it is finished. The format is BGZF, so that the file can be
    /// inflated in parallel and indexed. Its bytes depend only on the text and on the version of libdeflate.
    Gz(Box<BgzfWriter>),
}

impl Output {
    /// Creates the output that `path` names: `-` is standard output, a name that ends in `.gz` or `.bgz` (in any
    /// case) is a compressed file, and anything else is a plain file.
    ///
    /// # Errors
    ///
    /// If the file cannot be created; see [`AtomicFile::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        OutputSet::alone().output(path)
    }

    /// Wraps a file, with compression if its name asks for it.
    fn of_file(file: AtomicFile) -> Self {
        match OutputCompression::of_name(file.path()) {
            Some(OutputCompression::Gzip) => Self::Gz(Box::new(BgzfWriter::new(file))),
            _ => Self::File(file),
        }
    }

    /// Overwrites bytes that were written before; see [`AtomicFile::patch`].
    ///
    /// # Errors
    ///
    /// If this is not a plain file, or if the bytes cannot be written.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::File(file) => file.patch(offset, bytes),
            Self::Stdout(_) | Self::Gz(_) => self.refuse_direct(),
        }
    }

    /// Checks that the output can be read again; see [`AtomicFile::refuse_direct`].
    ///
    /// # Errors
    ///
    /// If this is not a plain file.
    pub fn refuse_direct(&self) -> Result<(), Error> {
        let path = match self {
            Self::File(file) => return file.refuse_direct(),
            Self::Stdout(_) => Path::new("stdout"),
            Self::Gz(writer) => writer.path(),
        };
        let reason = "a plain file is needed, which can be read again".to_owned();
        Err(Error::Create { path: path.to_owned(), reason })
    }

    /// Writes everything, including the synchronization with the disk, so that only the name of the file is
    /// missing, which [`finish`](Self::finish) sets. Use it for several files that must appear together. Nothing
    /// more can be written.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; no file is created then.
    pub fn prepare(self) -> Result<Self, Error> {
        let mut file = match self {
            Self::Stdout(stdout) => return flushed(stdout).map(Self::Stdout),
            Self::File(file) => file,
            Self::Gz(writer) => writer.finish()?,
        };
        file.prepare()?;
        Ok(Self::File(file))
    }

    /// Writes the buffered data and makes the file appear, or leaves that to its [`OutputSet`]. Returns the
    /// duration of the final synchronization with the disk.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; no file is created then.
    pub fn finish(self) -> Result<Duration, Error> {
        match self {
            Self::Stdout(stdout) => flushed(stdout).map(|_| Duration::ZERO),
            Self::File(file) => file.commit(),
            Self::Gz(writer) => writer.finish()?.commit(),
        }
    }
}

/// Makes several outputs appear together, in the given order. No file appears before all of them are written and
/// synchronized with the disk. Returns the time that this took.
///
/// # Errors
///
/// If an output cannot be written; no file is created then. If a file cannot be renamed, those before it have
/// appeared.
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

/// The errors wrap an [`Error`], which names the file.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
            Self::Gz(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
            Self::Gz(writer) => writer.flush(),
        }
    }
}

/// Flushes the buffer of standard output.
fn flushed(mut stdout: Box<StdoutWriter>) -> Result<Box<StdoutWriter>, Error> {
    stdout.flush().map_err(|error| Error::of_write(error, Path::new("stdout")))?;
    Ok(stdout)
}
