//! Descriptors that are open already: the standard streams, and what `/dev/fd/N` leads to.
//!
//! The shell's `>` to such a name opens the file behind it once more, and empties it. Here the descriptor itself is
//! written through (a duplicate, which shares offset and flags): what the file has from before stays, `>>` appends, and
//! what the shell writes afterwards comes behind. Nor does a file that a stream was redirected to get replaced.
#![allow(unsafe_code, reason = "users name descriptors by their numbers")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::there::directory_of;

/// Links in a row, after which the system gives up as well.
pub(crate) const MAX_LINKS: usize = 40;

/// Folders whose entries are the descriptors of this process, by their numbers.
const FOLDERS: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

/// What a descriptor is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// An open descriptor that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor(RawFd);

/// Where a path leads that is an entry of a folder of descriptors, directly or by links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To a descriptor of this process, which need not be open.
    Here(Descriptor),
    /// To one of another process.
    Elsewhere,
}

/// Whether an output goes to a stream that is open already: `-`, `/dev/stdout`, `/dev/fd/N` and links to these.
pub fn is_open_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || matches!(leads(path), Some(Leads::Here(_)))
}

/// Sees to it that a descriptor that a path leads to, if it leads to one, can be read: a standard stream that is closed
/// would be an empty file.
///
/// # Errors
///
/// If it is closed, or cannot be read.
pub(crate) fn check_open(path: &Path) -> io::Result<()> {
    match leads(path) {
        Some(Leads::Here(descriptor)) => descriptor.open(Access::Read).map(drop),
        Some(Leads::Elsewhere) | None => Ok(()),
    }
}

/// Finds the descriptor that a path leads to; `None` if it leads to a file by its name.
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

/// As [`leads`], where the path itself is an entry.
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

    /// A duplicate of it.
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

    /// Whether the process was started with it. What the program opened itself goes by numbers that users cannot know,
    /// and is closed for programs that it starts.
    pub(crate) fn is_inherited(self) -> bool {
        // SAFETY: asks for the flags of a number, which need not be that of an open descriptor.
        let flags = unsafe { libc::fcntl(self.0, libc::F_GETFD) };
        flags != -1 && flags & libc::FD_CLOEXEC == 0
    }

    /// The error of a descriptor that is not open.
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
        // SAFETY: takes a number, which need not be that of an open descriptor, and makes a new descriptor.
        let new = unsafe { libc::fcntl(self.0, libc::F_DUPFD_CLOEXEC, 3) };
        if new == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(File::from(unsafe { OwnedFd::from_raw_fd(new) }))
    }
}

/// Whether a file is `/dev/null`.
fn is_null(file: &File) -> io::Result<bool> {
    let (at, null) = (file.metadata()?, fs::metadata("/dev/null"));
    Ok(at.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == at.rdev()))
}
