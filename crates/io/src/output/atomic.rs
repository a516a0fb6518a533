//! A file that appears under its name only when it is complete.

use super::made::MadeDirectories;
use super::member::Member;
use super::named::{Named, TemporaryName, temporary_next_to};
use super::replaced::open_stream;
use super::resolved::resolve_output;
use crate::Error;
use crate::error::reason;
use crate::spill::nameless;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file written next to its final place and moved there by [`commit`](Self::commit); dropped
/// without that, it leaves nothing. An existing file of that name stays as it is until then.
///
/// What is no regular file (a device, a named pipe) is written directly, and so is a stream that is open
/// already (`/dev/stdout`, `/dev/fd/N`), whatever it leads to: from where it stands.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    place: Place,
    member: Member,
    buffer: Vec<u8>,
    /// Bytes written, those in the buffer not counted,
    written: u64,
    /// and those of them that the system was asked to put on disk.
    pushed: u64,
}

/// What a file is until it is complete.
#[derive(Debug)]
enum Place {
    /// Another name in the directory of the target.
    Temporary { temporary: TemporaryName, target: PathBuf },
    /// Itself: a device, a pipe, or a stream that was open before.
    Direct,
    /// Nothing: it has no name, and never will.
    Nameless { _made: MadeDirectories },
}

const BUFFER: usize = 1 << 20;
/// Every so many bytes the system is asked to begin writing them to disk, so that little is left
/// to do for the synchronisation at the end.
const PUSH: u64 = 16 << 20;
impl AtomicFile {
    /// Begins a file that will appear at `path`. A symbolic link is followed: the file that it leads
    /// to is written, whether or not there is one yet. A file that was there gives its permissions
    /// to the new one, but for those to run as its owner or group (setuid, setgid), and its owner and group where
    /// the user may give files to them, as root may.
    ///
    /// # Errors
    ///
    /// If its directory does not exist or cannot be written, or `path` is a directory; if the user may not write
    /// or not replace the file that is there; if `path` leads to a stream that is closed or not writable.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::begin(path, Member::alone())
    }

    pub(super) fn begin(path: &Path, member: Member) -> Result<Self, Error> {
        let failed =
            |error: io::Error| Error::Create { path: path.to_owned(), reason: reason(&error) };
        if let Some(file) = open_stream(path)? {
            return Ok(Self::new(path, file, Place::Direct, member));
        }
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        match existing {
            Some(metadata) if metadata.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            Some(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path).map_err(failed)?;
                Ok(Self::new(path, file, Place::Direct, member))
            }
            existing => {
                let target = resolve_output(path).map_err(failed)?;
                let (file, temporary) = temporary_next_to(path, &target, existing.as_ref())?;
                Ok(Self::new(path, file, Place::Temporary { temporary, target }, member))
            }
        }
    }

    /// Begins a file in `directory` that never has a name: it is gone when nobody has it open any
    /// more. The directory is made if it is not there, and then removed again.
    ///
    /// # Errors
    ///
    /// If the directory or the file cannot be made.
    pub fn temporary(directory: &Path) -> Result<Self, Error> {
        let (file, made) = nameless(directory)?;
        Ok(Self::new(directory, file, Place::Nameless { _made: made }, Member::alone()))
    }

    fn new(path: &Path, file: File, place: Place, member: Member) -> Self {
        let (path, buffer) = (path.to_owned(), Vec::with_capacity(BUFFER));
        Self { path, file, place, member, buffer, written: 0, pushed: 0 }
    }

    /// Where it will be, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sees to it that what is written can be read again, as who maps it will.
    ///
    /// # Errors
    ///
    /// If it is a pipe, a device or an open stream.
    pub fn refuse_direct(&self) -> Result<(), Error> {
        self.refuse_if(self.is_direct(), "cannot hold what is read again")
    }

    /// Sees to it that the file's beginning can be [patched](Self::patch).
    ///
    /// # Errors
    ///
    /// If it is a pipe or an open stream.
    pub fn refuse_unseekable(&self) -> Result<(), Error> {
        // A file behind a stream has places, too, which are not this output's.
        let is_stream = || self.file.metadata().map_or(true, |at| at.is_file());
        let refuse = self.is_direct() && (rustix::fs::tell(&self.file).is_err() || is_stream());
        self.refuse_if(refuse, "cannot hold a format whose header is written last")
    }

    fn refuse_if(&self, refuse: bool, what: &str) -> Result<(), Error> {
        let reason = || format!("a pipe, a device or an open stream {what}: name a file");
        match refuse {
            true => Err(Error::Create { path: self.path.clone(), reason: reason() }),
            false => Ok(()),
        }
    }

    fn is_direct(&self) -> bool {
        matches!(self.place, Place::Direct)
    }

    /// Another handle, to read with what was written: for who needs it before it appears.
    ///
    /// # Errors
    ///
    /// If the process has too many open files.
    pub fn reader(&mut self) -> Result<File, Error> {
        self.write_buffer()?;
        self.file.try_clone().map_err(|error| self.failed(error))
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
        match self.place {
            Place::Temporary { .. } => self.file.sync_all().map_err(|error| self.failed(error)),
            Place::Direct | Place::Nameless { .. } => Ok(()),
        }
    }

    /// Puts everything on disk and gives the file its name, or leaves that to its
    /// [`OutputSet`](super::OutputSet). Returns how long the disk took.
    ///
    /// # Errors
    ///
    /// If that fails; there is then no file, or the old one.
    pub fn commit(mut self) -> Result<Duration, Error> {
        self.write_buffer()?;
        let start = Instant::now();
        self.prepare()?;
        let Self { path, place, member, written, .. } = self;
        let Place::Temporary { temporary, target } = place else { return Ok(Duration::ZERO) };
        member.hand_over(Named::new(path, temporary, target, written))?;
        Ok(start.elapsed())
    }

    fn write_buffer(&mut self) -> Result<(), Error> {
        let bytes = std::mem::take(&mut self.buffer);
        let result = self.write_through(&bytes);
        // Also after an error: a retry would write some bytes twice.
        self.buffer = bytes;
        self.buffer.clear();
        result
    }

    /// Writes bytes behind those that are written, not through the buffer.
    fn write_through(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written += bytes.len() as u64;
        if self.member.is_gone() {
            return Ok(());
        }
        let result = self.file.write_all(bytes);
        self.member.written(result).map_err(|error| self.failed(error))?;
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
        if matches!(self.place, Place::Temporary { .. }) {
            // On Linux, DONTNEED begins the write-back of dirty pages without waiting for it, and
            // drops only clean ones: sync_file_range, for which there is no safe wrapper, would do
            // no more. It is a hint; an error changes nothing.
            let length = std::num::NonZero::new(length);
            let _ = rustix::fs::fadvise(&self.file, offset, length, rustix::fs::Advice::DontNeed);
        }
    }

    fn failed(&self, cause: io::Error) -> Error {
        let (path, cause) = (self.path.clone(), Arc::new(cause));
        match self.place {
            Place::Nameless { .. } => Error::Temporary { dir: path, action: "write", cause },
            _ => Error::Write { path, cause },
        }
    }
}

/// Errors are [`Error`]s within, and so name the file.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.write_buffer()?;
        }
        if bytes.len() >= BUFFER {
            self.write_through(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.write_buffer()?)
    }
}
