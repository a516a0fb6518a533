//! Files that appear under their names only when they are complete.

use super::made::MadeDirectories;
use super::member::Member;
use super::named::{Named, TemporaryName, check_next_to, temporary_next_to};
use super::replaced::{check_output, open_stream};
use super::resolved::resolve_output;
use crate::Error;
use crate::error::reason;
use crate::spill::nameless;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file that is written next to its final path and renamed by [`commit`](Self::commit). If it is dropped before,
/// nothing is left. An existing file of the same name is unchanged until then.
///
/// Anything that is not a regular file (a device, a named pipe) is written directly. The same applies to a stream
/// that is already open (`/dev/stdout`, `/dev/fd/N`), whatever it refers to; it is written from its current
/// position.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    place: Place,
    member: Member,
    buffer: Vec<u8>,
    /// The number of bytes written, without those in the buffer.
    written: u64,
    /// The number of written bytes that the system was asked to put on disk.
    pushed: u64,
}

/// The location of a file until it is complete.
#[derive(Debug)]
enum Place {
    /// A temporary name in the directory of the target.
    Temporary { temporary: TemporaryName, target: PathBuf },
    /// The final location: a device, a pipe, or a stream that was already open.
    Direct,
    /// A file that never has a name.
    Nameless { _made: MadeDirectories },
}

/// The destination of an output.
enum Target {
    /// A stream that is already open.
    Stream(File),
    /// A device or a named pipe.
    Other,
    /// A regular file, with the metadata of an existing one.
    File(PathBuf, Option<Metadata>),
}

impl Target {
    fn of(path: &Path) -> Result<Target, Error> {
        let failed =
            |error: io::Error| Error::Create { path: path.to_owned(), reason: reason(&error) };
        if let Some(file) = open_stream(path)? {
            return Ok(Target::Stream(file));
        }
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        match existing {
            Some(metadata) if metadata.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            Some(metadata) if !metadata.is_file() => Ok(Target::Other),
            existing => Ok(Target::File(resolve_output(path).map_err(failed)?, existing)),
        }
    }
}

/// Checks that an output can be created at `path` (`-` is standard output), without creating it. This includes
/// [`check_output`]. Devices and named pipes are not opened.
///
/// # Errors
/// Returns the errors of [`AtomicFile::create`]. A full disk is not noticed.
pub fn check_creation(path: &Path) -> Result<(), Error> {
    check_output(path)?;
    if path.as_os_str() == "-" {
        return Ok(());
    }
    match Target::of(path)? {
        Target::File(target, existing) => check_next_to(path, &target, existing.as_ref()),
        Target::Stream(_) | Target::Other => Ok(()),
    }
}

const BUFFER: usize = 1 << 20;
/// The number of bytes after which the kernel is requested to start writing them to disk, so that little remains for
/// the synchronization at the end.
const PUSH: u64 = 16 << 20;
impl AtomicFile {
    /// Creates a file that will appear at `path`.
    ///
    /// A symbolic link is followed: the file that it refers to is written, whether it exists or not. The new file
    /// gets the permissions of an existing file, except setuid and setgid, and its owner and group if the user may
    /// give files away, as root may.
    ///
    /// # Errors
    /// If its directory does not exist or is not writable, or if `path` is a directory; if the user may not write
    /// or not replace the existing file; if `path` refers to a stream that is closed or not writable.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::begin(path, Member::alone())
    }

    pub(super) fn begin(path: &Path, member: Member) -> Result<Self, Error> {
        let failed =
            |error: io::Error| Error::Create { path: path.to_owned(), reason: reason(&error) };
        match Target::of(path)? {
            Target::Stream(file) => Ok(Self::new(path, file, Place::Direct, member)),
            Target::Other => {
                let file = File::options().write(true).open(path).map_err(failed)?;
                Ok(Self::new(path, file, Place::Direct, member))
            }
            Target::File(target, existing) => {
                let (file, temporary) = temporary_next_to(path, &target, existing.as_ref())?;
                Ok(Self::new(path, file, Place::Temporary { temporary, target }, member))
            }
        }
    }

    /// Creates a file in `directory` that never has a name: it disappears when it is closed. The directory is
    /// created if it does not exist, and then removed again.
    ///
    /// # Errors
    ///
    /// If the directory or the file cannot be created.
    pub fn temporary(directory: &Path) -> Result<Self, Error> {
        let (file, made) = nameless(directory)?;
        Ok(Self::new(directory, file, Place::Nameless { _made: made }, Member::alone()))
    }

    fn new(path: &Path, file: File, place: Place, member: Member) -> Self {
        let (path, buffer) = (path.to_owned(), Vec::with_capacity(BUFFER));
        Self { path, file, place, member, buffer, written: 0, pushed: 0 }
    }

    /// Returns the path at which the file will appear, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file can be read again, for instance by mapping it.
    ///
    /// # Errors
    ///
    /// If it is a pipe, a device or an open stream.
    pub fn refuse_direct(&self) -> Result<(), Error> {
        self.refuse_if(self.is_direct(), "cannot be read again")
    }

    /// Checks that the beginning of the file can be [patched](Self::patch).
    ///
    /// # Errors
    ///
    /// If it is a pipe or an open stream.
    pub fn refuse_unseekable(&self) -> Result<(), Error> {
        // A regular file behind an open stream is seekable, too, but its offsets are not those of this output.
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

    /// Returns another handle, to read the written data before the file appears.
    ///
    /// # Errors
    ///
    /// If the process has too many open files.
    pub fn reader(&mut self) -> Result<File, Error> {
        self.write_buffer()?;
        self.file.try_clone().map_err(|error| self.failed(error))
    }

    /// Returns the number of bytes written so far, which is the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Overwrites `bytes.len()` bytes at `offset`, all of which must have been written. It serves headers whose
    /// numbers are known only at the end.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written, for instance because this is a pipe.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        debug_assert!(offset + bytes.len() as u64 <= self.position());
        self.write_buffer()?;
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed(error))
    }

    /// Skips `length` bytes, to be filled by [`write_at`](Self::write_at).
    ///
    /// # Errors
    ///
    /// If the file can be written only at its end, such as a pipe.
    pub fn skip(&mut self, length: u64) -> Result<(), Error> {
        self.write_buffer()?;
        self.written += length;
        let end = SeekFrom::Start(self.written);
        self.file.seek(end).map(drop).map_err(|error| self.failed(error))
    }

    /// Writes bytes at `offset` without the buffer. Several threads may do so at the same time in ranges that do
    /// not overlap. [`position`](Self::position) does not change.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed(error))?;
        if bytes.len() as u64 >= PUSH / 4 {
            self.push(offset, bytes.len() as u64);
        }
        Ok(())
    }

    /// Synchronizes everything with the disk, so that [`commit`](Self::commit) has little left to do.
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

    /// Synchronizes everything with the disk and renames the file, or leaves that to its
    /// [`OutputSet`](super::OutputSet). Returns the time that the disk took.
    ///
    /// # Errors
    ///
    /// If this fails; there is then no file, or the old one.
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
        // The buffer is cleared even after an error, because a retry would write some bytes twice.
        self.buffer = bytes;
        self.buffer.clear();
        result
    }

    /// Appends bytes to the file without the buffer.
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

    /// Asks the system to begin writing the data since the last call to disk, if there are enough.
    fn push_written(&mut self) {
        if self.written - self.pushed >= PUSH {
            self.push(self.pushed, self.written - self.pushed);
            self.pushed = self.written;
        }
    }

    /// Asks the system to begin writing a range to disk. Only Linux has a call for this.
    fn push(&self, offset: u64, length: u64) {
        #[cfg(not(target_os = "linux"))]
        let _ = (offset, length);
        #[cfg(target_os = "linux")]
        if matches!(self.place, Place::Temporary { .. }) {
            // On Linux, DONTNEED starts the write-back of dirty pages without waiting for it, and drops only clean
            // pages. sync_file_range, which has no safe wrapper, would do no more. It is a hint; errors are
            // ignored.
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

/// The errors wrap an [`Error`], which names the file.
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
