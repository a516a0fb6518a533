//! Descriptors that are already open: the standard streams, and the targets of `/dev/fd/N`.
//!
//! The shell's `>` to such a name opens the underlying file again and truncates it. Here, output goes through the
//! descriptor itself (a duplicate, which shares offset and flags): the previous content of the file is kept, `>>`
//! appends, and later output of the shell follows. A file to which a stream was redirected is not replaced, either.
#![allow(unsafe_code, reason = "users name descriptors by their numbers")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::there::directory_of;

/// The maximum number of links that are followed, the same as the limit of the system.
pub(crate) const MAX_LINKS: usize = 40;

/// The directories whose entries are the descriptors of this process, by their numbers.
const FOLDERS: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

/// The intended use of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A descriptor that a path names; it need not be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor(RawFd);

/// The target of a path that refers to an entry of a directory of descriptors, directly or by links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// A descriptor of this process, which need not be open.
    Here(Descriptor),
    /// A descriptor of another process.
    Elsewhere,
}

/// Whether an output path refers to a stream that is already open: `-`, `/dev/stdout`, `/dev/fd/N`, or a link to one.
pub fn is_open_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || matches!(leads(path), Some(Leads::Here(_)))
}

/// Whether a path is a regular file or, if nothing is there, will be one as an output. Open streams, pipes and devices
/// are not.
pub fn is_regular(path: &Path) -> bool {
    !is_open_stream(path) && fs::metadata(path).map_or(true, |at| at.is_file())
}

/// Checks that the descriptor to which a path refers, if any, can be read. A closed standard stream would look like
/// an empty file.
///
/// # Errors
///
/// If the descriptor is closed or cannot be read.
pub(crate) fn check_open(path: &Path) -> io::Result<()> {
    match leads(path) {
        Some(Leads::Here(descriptor)) => descriptor.open(Access::Read).map(drop),
        Some(Leads::Elsewhere) | None => Ok(()),
    }
}

/// Finds the descriptor to which a path refers; `None` if the path refers to a file by its name.
pub(crate) fn leads(path: &Path) -> Option<Leads> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(found) = entry(&target) {
            return Some(found);
        }
        target = directory_of(&target).join(fs::read_link(&target).ok()?);
    }
    None
}

/// Finds the descriptor as [`leads`] does, without following links of the path itself.
fn entry(path: &Path) -> Option<Leads> {
    let number: RawFd = path.file_name()?.to_str()?.parse().ok().filter(|&number| number >= 0)?;
    let folder = fs::canonicalize(directory_of(path)).ok()?;
    let is = |own: &&str| fs::canonicalize(own).is_ok_and(|own| own == folder);
    if FOLDERS.iter().any(is) {
        return Some(Leads::Here(Descriptor(number)));
    }
    (folder.starts_with("/proc") && folder.ends_with("fd")).then_some(Leads::Elsewhere)
}

impl Descriptor {
    pub(crate) const STDIN: Descriptor = Descriptor(0);
    pub(crate) const STDOUT: Descriptor = Descriptor(1);

    /// Returns a duplicate of the descriptor.
    ///
    /// # Errors
    ///
    /// If it is closed or not open for `access`.
    pub(crate) fn open(self, access: Access) -> io::Result<File> {
        let file = self.duplicate().map_err(|error| match error.raw_os_error() {
            Some(libc::EBADF) => self.closed(),
            _ => error,
        })?;
        if merganser_run::was_closed_at_start(self.0) && is_null(&file)? {
            return Err(self.closed());
        }
        let mode = rustix::fs::fcntl_getfl(&file)? & rustix::fs::OFlags::RWMODE;
        match access {
            Access::Read if mode == rustix::fs::OFlags::WRONLY => {
                Err(io::Error::other(format!("{} is not open for reading", self.name())))
            }
            Access::Write if mode == rustix::fs::OFlags::RDONLY => {
                Err(io::Error::other(format!("{} is not open for writing", self.name())))
            }
            _ => Ok(file),
        }
    }

    /// Whether the process was started with this descriptor. Descriptors that the program opened itself have
    /// numbers that users cannot know, and are closed on exec.
    pub(crate) fn is_inherited(self) -> bool {
        // SAFETY: F_GETFD only reads the flags of a number, which need not be that of an open descriptor.
        let flags = unsafe { libc::fcntl(self.0, libc::F_GETFD) };
        flags != -1 && flags & libc::FD_CLOEXEC == 0
    }

    /// Returns the error for a descriptor that is not open.
    pub(crate) fn closed(self) -> io::Error {
        io::Error::other(match self.0 {
            0..3 => format!("{} is closed", self.name()),
            _ => format!("{} is not open", self.name()),
        })
    }

    fn name(self) -> String {
        match self.0 {
            0 => "stdin".to_owned(),
            1 => "stdout".to_owned(),
            2 => "stderr".to_owned(),
            number => format!("descriptor {number}"),
        }
    }

    fn duplicate(self) -> io::Result<File> {
        // SAFETY: F_DUPFD_CLOEXEC takes a number, which need not be that of an open descriptor, and creates a new
        // descriptor.
        let new = unsafe { libc::fcntl(self.0, libc::F_DUPFD_CLOEXEC, 3) };
        if new == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nothing else owns it.
        Ok(File::from(unsafe { OwnedFd::from_raw_fd(new) }))
    }
}

/// Whether a file is `/dev/null`.
fn is_null(file: &File) -> io::Result<bool> {
    let (at, null) = (file.metadata()?, fs::metadata("/dev/null"));
    Ok(at.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == at.rdev()))
}
