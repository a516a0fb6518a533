//! Queries of paths, and system calls that are repeated when a signal interrupts them.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

/// Returns the metadata of a path, following symbolic links; `None` if nothing exists there.
///
/// `Path::is_file` and similar methods return `false` if the system cannot tell. A file that is skipped because of
/// a temporary disk error would then be missing from the result.
///
/// # Errors
/// If the system cannot tell.
pub fn look_up(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            // Links that form a cycle lead to nothing.
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Whether a path is a regular file, following symbolic links.
///
/// # Errors
/// If the system cannot tell.
pub fn is_file(path: &Path) -> io::Result<bool> {
    Ok(look_up(path)?.is_some_and(|there| there.is_file()))
}

/// Returns the directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Checks that this process may create files in a directory.
///
/// # Errors
/// If it may not, or this is not a directory.
pub(crate) fn check_writable(directory: &Path) -> io::Result<()> {
    // The dot makes a file in place of the directory an error.
    let (path, wanted) = (directory.join("."), Access::WRITE_OK | Access::EXEC_OK);
    Ok(accessat(CWD, path, wanted, AtFlags::EACCESS)?)
}

/// Repeats a system call while a signal interrupts it, which is not a failure. Most readers of the standard library
/// leave that to the caller, and a caller that retries behind a decoder may lose data that were already read.
///
/// # Errors
/// If the call fails for any other reason.
pub fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether an error is from the system, and not from a decoder of invalid data. A file that could temporarily not
/// be read must not be mistaken for one of another kind.
pub(crate) fn is_of_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

/// A reader whose reads are repeated when a signal interrupts them.
pub(crate) struct Uninterrupted<R>(pub(crate) R);

impl<R: Read> Read for Uninterrupted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.read(buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_file, look_up};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn nothing_is_no_error_and_what_cannot_be_told_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "").unwrap();
        symlink("loop", path("loop")).unwrap();
        assert!(is_file(&path("file")).unwrap() && !is_file(dir.path()).unwrap());
        for name in ["none", "file/none", "loop"] {
            assert!(look_up(&path(name)).unwrap().is_none(), "{name}");
        }
        assert!(look_up(Path::new(&"x".repeat(5000))).is_err());
    }
}
