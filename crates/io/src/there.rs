//! What stands at a path, and calls of the system that signals interrupt.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::Path;

use rustix::io::Errno;

/// What stands at a path, symbolic links followed; `None` where nothing does. `Path::is_file` and others
/// take what the system cannot tell for nothing: a file that is then passed over, as its disk failed for
/// a moment, would be missing in the result.
///
/// # Errors
/// If the system cannot tell.
pub fn look_up(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            // Links that lead to each other lead to nothing.
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Whether a file stands at a path, symbolic links followed.
///
/// # Errors
/// If the system cannot tell.
pub fn is_file(path: &Path) -> io::Result<bool> {
    Ok(look_up(path)?.is_some_and(|there| there.is_file()))
}

/// The directory that a file stands in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes a call of the system again as long as a signal interrupts it, which is no failure: most of the standard
/// library's readers leave that to who calls them, and who goes on behind a decoder may lose what was read.
///
/// # Errors
/// What else goes wrong.
pub fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether an error is the system's, and not a decoder's that does not know what it is given: a file that could not be
/// read for a moment must not be taken for one of another kind.
pub(crate) fn is_of_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

/// A reader whose reads no signal interrupts.
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
