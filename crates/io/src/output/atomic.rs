//! A file that appears under its name only when it is complete.

use super::temporaries::Listed;
use crate::Error;
use crate::error::reason;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempPath};

/// A file written beside its final place and moved there by [`commit`](Self::commit); dropped
/// without that, it leaves nothing. An existing file of that name stays as it is until then.
///
/// What is no regular file (a device, a named pipe) is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    /// The temporary name, and the final one with symbolic links resolved.
    beside: Option<(TempPath, PathBuf, Listed)>,
    buffer: Vec<u8>,
    /// Bytes written, those in the buffer not counted,
    written: u64,
    /// and those of them that the system was asked to put on disk.
    pushed: u64,
}

const BUFFER: usize = 1 << 20;
/// Every so many bytes the system is asked to begin writing them to disk, so that little is left
/// to do for the synchronisation at the end.
const PUSH: u64 = 16 << 20;

impl AtomicFile {
    /// Begins a file that will appear at `path`.
    ///
    /// # Errors
    ///
    /// If its directory does not exist or cannot be written, or `path` is a directory.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let failed =
            |error: io::Error| Error::Create { path: path.to_owned(), reason: reason(&error) };
        let existing = fs::metadata(path).ok();
        let (file, beside) = match &existing {
            Some(metadata) if metadata.is_dir() => {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            Some(metadata) if !metadata.is_file() => {
                (File::options().write(true).open(path).map_err(failed)?, None)
            }
            _ => {
                // The file that a symbolic link leads to is replaced, not the link.
                let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
                let mode = existing.map_or(0o666, |metadata| metadata.permissions().mode());
                let (named, listed) = temporary_beside(path, &target, mode)?;
                let (file, temporary) = named.into_parts();
                (file, Some((temporary, target, listed)))
            }
        };
        let buffer = Vec::with_capacity(BUFFER);
        Ok(Self { path: path.to_owned(), file, beside, buffer, written: 0, pushed: 0 })
    }

    /// Bytes written so far, and so the offset of the next one.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Overwrites `bytes.len()` bytes from `offset`, all of which must have been written: for a
    /// header whose numbers are known only at the end.
    ///
    /// # Errors
    ///
    /// If they cannot be written, for instance to a pipe.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        debug_assert!(offset + bytes.len() as u64 <= self.position());
        self.write_buffer()?;
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed(error))
    }

    /// Leaves `length` bytes out, for [`write_at`](Self::write_at) to fill.
    ///
    /// # Errors
    ///
    /// If the file cannot be written anywhere but at its end, as a pipe.
    pub fn skip(&mut self, length: u64) -> Result<(), Error> {
        self.write_buffer()?;
        self.written += length;
        let end = SeekFrom::Start(self.written);
        self.file.seek(end).map(drop).map_err(|error| self.failed(error))
    }

    /// Writes bytes at `offset`, not through the buffer; several threads may do so at once, where
    /// nobody else writes. [`position`](Self::position) stays as it is.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed(error))?;
        if bytes.len() as u64 >= PUSH / 4 {
            self.push(offset, bytes.len() as u64);
        }
        Ok(())
    }

    /// Puts everything on disk, so that [`commit`](Self::commit) has little left to do.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn prepare(&mut self) -> Result<(), Error> {
        self.write_buffer()?;
        match self.beside {
            Some(_) => self.file.sync_all().map_err(|error| self.failed(error)),
            None => Ok(()),
        }
    }

    /// Puts everything on disk and gives the file its name. Returns how long the synchronisation
    /// took.
    ///
    /// # Errors
    ///
    /// If that fails; there is then no file, or the old one.
    pub fn commit(mut self) -> Result<Duration, Error> {
        self.write_buffer()?;
        let Some((temporary, target, _listed)) = self.beside.take() else {
            return Ok(Duration::ZERO);
        };
        let start = Instant::now();
        self.file.sync_all().map_err(|error| self.failed(error))?;
        temporary.persist(&target).map_err(|error| self.failed(error.error))?;
        // The new name is on disk only when its directory is. Not every file system can do that,
        // and the file itself is safe.
        if let Ok(directory) = File::open(directory_of(&target)) {
            let _ = directory.sync_all();
        }
        Ok(start.elapsed())
    }

    fn write_buffer(&mut self) -> Result<(), Error> {
        let result = self.file.write_all(&self.buffer);
        self.written += self.buffer.len() as u64;
        // Also after an error: a retry would write some bytes twice.
        self.buffer.clear();
        result.map_err(|error| self.failed(error))?;
        self.push_written();
        Ok(())
    }

    /// Has the system begin to write what was written since this was last done, if it is much.
    fn push_written(&mut self) {
        if self.written - self.pushed >= PUSH {
            self.push(self.pushed, self.written - self.pushed);
            self.pushed = self.written;
        }
    }

    /// Has the system begin to write a range to disk.
    fn push(&self, offset: u64, length: u64) {
        if self.beside.is_some() {
            // On Linux, DONTNEED begins the write-back of dirty pages without waiting for it, and
            // drops only clean ones: sync_file_range, for which there is no safe wrapper, would do
            // no more. It is a hint; an error changes nothing.
            let length = std::num::NonZero::new(length);
            let _ = rustix::fs::fadvise(&self.file, offset, length, rustix::fs::Advice::DontNeed);
        }
    }

    pub(super) fn failed(&self, cause: io::Error) -> Error {
        Error::Write { path: self.path.clone(), cause: Arc::new(cause) }
    }
}

/// Errors are [`Error`]s within, and so name the file.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.write_buffer()?;
        }
        if bytes.len() >= BUFFER {
            let result = self.file.write_all(bytes);
            self.written += bytes.len() as u64;
            result.map_err(|error| self.failed(error))?;
            self.push_written();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.write_buffer()?)
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A hidden file in the directory of `target`, with `mode` less the umask.
fn temporary_beside(
    path: &Path,
    target: &Path,
    mode: u32,
) -> Result<(NamedTempFile, Listed), Error> {
    let failed = |reason| Error::Create { path: path.to_owned(), reason };
    let Some(name) = target.file_name() else {
        return Err(failed("it is not the name of a file".into()));
    };
    let directory = directory_of(target);
    let prefix = format!(".{}.tmp-{}-", name.display(), std::process::id());
    let mut listed = None;
    let made = tempfile::Builder::new().prefix(&prefix).make_in(directory, |name| {
        // Before it is there, so that it is never left behind.
        listed = Some(Listed::file(name)?);
        File::options().read(true).write(true).create_new(true).mode(mode).open(name)
    });
    made.and_then(|named| Ok((named, listed.ok_or(io::ErrorKind::Other)?))).map_err(|error| {
        match error.kind() {
            io::ErrorKind::NotFound => {
                failed(format!("the directory {} does not exist", directory.display()))
            }
            io::ErrorKind::PermissionDenied => {
                failed(format!("the directory {} is not writable", directory.display()))
            }
            // tempfile's own text would name the temporary file.
            _ => failed(error.raw_os_error().map_or_else(
                || error.to_string(),
                |code| reason(&io::Error::from_raw_os_error(code)),
            )),
        }
    })
}
