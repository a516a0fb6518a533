//! Temporary storage for what does not fit into memory.

use crate::Error;
use crate::MadeDirectories;
use crate::error::{reason, without_name};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A temporary file without a name: whatever ends the process, nothing is left behind. Any number
/// of threads append to it and read it at the same time.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    end: AtomicU64,
    dir: PathBuf,
    _made: MadeDirectories,
}

/// A file without a name in `dir`, which is made if it does not exist.
pub(crate) fn nameless(dir: &Path) -> Result<(File, MadeDirectories), Error> {
    let failed = |error| Error::TemporaryDirectory { dir: dir.to_owned(), reason: reason(&error) };
    MadeDirectories::ensure_with(dir, || tempfile::tempfile_in(dir))
        .map_err(|error| failed(without_name(error)))
}

impl SpillFile {
    /// A new, empty file in `dir`, which is made if it does not exist, and then removed again with
    /// the file if it is empty.
    ///
    /// # Errors
    ///
    /// If the directory or the file cannot be made.
    pub fn create(dir: &Path) -> Result<Self, Error> {
        let (file, made) = nameless(dir)?;
        Ok(Self { file, end: AtomicU64::new(0), dir: dir.to_owned(), _made: made })
    }

    /// Appends `bytes` and returns the offset at which they begin. Appends of several threads each
    /// stay whole; their order is that of the calls.
    ///
    /// # Errors
    ///
    /// If they cannot be written, for instance because the disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed("write", error))?;
        Ok(offset)
    }

    /// Fills `bytes` from `offset`, which must lie within what was appended.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact_at(bytes, offset).map_err(|error| self.failed("read", error))
    }

    /// How many bytes were appended.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    fn failed(&self, action: &'static str, cause: io::Error) -> Error {
        Error::Temporary { dir: self.dir.clone(), action, cause: Arc::new(cause) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_threads_append_is_read_back_and_nothing_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/b");
        let spill = SpillFile::create(&dir).unwrap();
        let write =
            |byte: u8| (0..100).map(|_| spill.append(&[byte; 1000]).unwrap()).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| write(1));
            for (byte, offsets) in [(2, write(2)), (1, other.join().unwrap())] {
                for offset in offsets {
                    let mut bytes = [0; 1000];
                    spill.read_at(offset, &mut bytes).unwrap();
                    assert_eq!(bytes, [byte; 1000]);
                }
            }
        });
        assert_eq!(spill.bytes(), 200_000);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "the mark: the file has no name");
        drop(spill);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn directories_that_were_there_stay() {
        let parent = tempfile::tempdir().unwrap();
        drop(SpillFile::create(parent.path()).unwrap());
        assert!(parent.path().exists());
    }

    #[test]
    fn errors_name_the_directory_and_the_option() {
        let message = |dir: &str| SpillFile::create(Path::new(dir)).unwrap_err().to_string();
        assert_eq!(
            message("/dev/null/x"),
            "/dev/null/x: cannot make a temporary file here: not a directory; choose another \
             directory with `temp_dir`"
        );
        let spill = SpillFile::create(&std::env::temp_dir()).unwrap();
        let error = spill.read_at(5, &mut [0; 3]).unwrap_err().to_string();
        assert!(error.contains("cannot read a temporary file: failed to fill"), "{error}");
    }
}
