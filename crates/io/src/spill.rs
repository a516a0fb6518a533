//! Temporary storage for data that do not fit in memory.

use crate::Error;
use crate::MadeDirectories;
use crate::error::{reason, without_name};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use merganser_run::locks::lock;

/// A temporary file without a name, which is created when it is first written to. Nothing is left behind, however
/// the process ends. Any number of threads may append to it and read it at the same time.
#[derive(Debug)]
pub struct SpillFile {
    dir: PathBuf,
    end: AtomicU64,
    open: OnceLock<(File, MadeDirectories)>,
    opening: Mutex<()>,
}

/// Creates a file without a name in `dir`, which is created if it does not exist.
pub(crate) fn nameless(dir: &Path) -> Result<(File, MadeDirectories), Error> {
    let failed = |error| Error::TemporaryDirectory { dir: dir.to_owned(), reason: reason(&error) };
    MadeDirectories::ensure_with(dir, || tempfile::tempfile_in(dir))
        .map_err(|error| failed(without_name(error)))
}

impl SpillFile {
    /// Creates an empty file in `dir`. If the directory does not exist, it is created together with the file, and
    /// removed with it if it is empty.
    pub fn new(dir: &Path) -> Self {
        let (end, open, opening) = (AtomicU64::new(0), OnceLock::new(), Mutex::new(()));
        Self { dir: dir.to_owned(), end, open, opening }
    }

    /// Appends `bytes` and returns their offset. Bytes of one call stay together; several threads may append in any
    /// order.
    ///
    /// # Errors
    ///
    /// If the directory or the file cannot be created, or if the bytes cannot be written, for instance because the
    /// disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let file = self.file()?;
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_all_at(bytes, offset).map_err(|error| self.failed("write", error))?;
        Ok(offset)
    }

    /// Fills `bytes` from `offset`; the range must have been appended.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be read.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.file()?.read_exact_at(bytes, offset).map_err(|error| self.failed("read", error))
    }

    /// Returns the number of bytes that were appended.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    fn file(&self) -> Result<&File, Error> {
        if let Some((file, _)) = self.open.get() {
            return Ok(file);
        }
        let _one_at_a_time = lock(&self.opening);
        let (file, _) = match self.open.get() {
            Some(open) => open,
            None => {
                let made = nameless(&self.dir)?;
                self.open.get_or_init(|| made)
            }
        };
        Ok(file)
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
        let spill = SpillFile::new(&dir);
        assert!(!dir.exists());
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
        let spill = SpillFile::new(parent.path());
        spill.append(&[1]).unwrap();
        drop(spill);
        assert!(parent.path().exists());
    }

    #[test]
    fn errors_name_the_directory_and_the_option() {
        let message =
            |dir: &str| SpillFile::new(Path::new(dir)).append(&[1]).unwrap_err().to_string();
        assert_eq!(
            message("/dev/null/x"),
            "/dev/null/x: cannot make a temporary file here: not a directory; choose another \
             directory with `temp_dir`"
        );
        let spill = SpillFile::new(&std::env::temp_dir());
        let error = spill.read_at(5, &mut [0; 3]).unwrap_err().to_string();
        assert!(error.contains("cannot read a temporary file: failed to fill"), "{error}");
    }
}
