//! Result files, which appear whole or not at all.

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

pub use atomic::AtomicFile;
pub use folder::TemporaryFolder;
pub use made::MadeDirectories;
pub use replaced::check_output;
pub use resolved::resolve_output;
pub use set::OutputSet;
pub use stdout::StdoutWriter;
pub use temporaries::{outputs_have_appeared, remove_temporaries};

use crate::{Error, OutputCompression};
use bgzf::BgzfWriter;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Where results go: standard output, a file, or a compressed file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Standard output.
    Stdout(Box<StdoutWriter>),
    /// A file that appears when finished.
    File(AtomicFile),
    /// The same, gzip-compressed (as BGZF, so that it can be inflated in parallel and indexed).
    /// The bytes depend on nothing but the text.
    Gz(Box<BgzfWriter>),
}

impl Output {
    /// The output that `path` names: `-` is standard output, a name that ends in `.gz` or `.bgz` (in
    /// any case) a compressed file, anything else a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be created; see [`AtomicFile::create`].
    pub fn create(path: &Path) -> Result<Self, Error> {
        OutputSet::alone().output(path)
    }

    /// Compressed if its name says so.
    fn of_file(file: AtomicFile) -> Self {
        match OutputCompression::of_name(file.path()) {
            Some(OutputCompression::Gzip) => Self::Gz(Box::new(BgzfWriter::new(file))),
            _ => Self::File(file),
        }
    }

    /// Overwrites bytes that have been written; see [`AtomicFile::patch`].
    ///
    /// # Errors
    ///
    /// If this is no plain file, or they cannot be written.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::File(file) => file.patch(offset, bytes),
            Self::Stdout(_) | Self::Gz(_) => self.refuse_direct(),
        }
    }

    /// Sees to it that what is written can be overwritten; see [`AtomicFile::refuse_direct`].
    ///
    /// # Errors
    ///
    /// If this is no plain file.
    pub fn refuse_direct(&self) -> Result<(), Error> {
        let path = match self {
            Self::File(file) => return file.refuse_direct(),
            Self::Stdout(_) => Path::new("stdout"),
            Self::Gz(writer) => writer.path(),
        };
        let reason = "a plain file is needed, which can be read again".to_owned();
        Err(Error::Create { path: path.to_owned(), reason })
    }

    /// Writes all of it, to disk too, so that a file needs but its name: [`finish`](Self::finish) gives
    /// it that. For several files that shall appear together. Nothing more can be written.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; there is then no file.
    pub fn prepare(self) -> Result<Self, Error> {
        let mut file = match self {
            Self::Stdout(stdout) => return flushed(stdout).map(Self::Stdout),
            Self::File(file) => file,
            Self::Gz(writer) => writer.finish()?,
        };
        file.prepare()?;
        Ok(Self::File(file))
    }

    /// Writes what is buffered and makes the file appear, or has it appear with its
    /// [`OutputSet`]. Returns how long the final synchronisation with the disk took.
    ///
    /// # Errors
    ///
    /// If anything cannot be written; there is then no file.
    pub fn finish(self) -> Result<Duration, Error> {
        match self {
            Self::Stdout(stdout) => flushed(stdout).map(|_| Duration::ZERO),
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

/// Standard output with nothing left in its buffer.
fn flushed(mut stdout: Box<StdoutWriter>) -> Result<Box<StdoutWriter>, Error> {
    stdout.flush().map_err(|error| Error::of_write(error, Path::new("stdout")))?;
    Ok(stdout)
}
