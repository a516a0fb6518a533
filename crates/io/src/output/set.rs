//! Sets of outputs that appear together.

use super::atomic::AtomicFile;
use super::member::{Member, SetMembers};
use super::named::{Appeared, Named, sync_directory};
use super::temporaries::Appearing;
use super::{Output, StdoutWriter};
use crate::Error;
use crate::there::directory_of;
use merganser_run::locks::lock;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The outputs of a run. None of their files appears before [`commit`](Self::commit), and then all do. Clones refer
/// to the same set.
///
/// A pipe whose reader has gone away ([`std::io::ErrorKind::BrokenPipe`]) is not an error while the set has other
/// outputs: its further data are dropped, and the other outputs are completed. For the last output it is an error.
#[derive(Clone, Debug)]
pub struct OutputSet(Option<Arc<Mutex<SetMembers>>>);

impl OutputSet {
    /// Creates a set without outputs.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "neither kind is an obvious default")]
    pub fn new() -> OutputSet {
        OutputSet(Some(Arc::default()))
    }

    /// Creates a value without a set: each file appears by itself as soon as it is finished.
    #[must_use]
    pub fn alone() -> OutputSet {
        OutputSet(None)
    }

    /// Creates an output of the set; see [`Output::create`].
    ///
    /// # Errors
    ///
    /// If the output cannot be created.
    pub fn output(&self, path: impl AsRef<Path>) -> Result<Output, Error> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Ok(Output::Stdout(Box::new(StdoutWriter::new(self.join())?)));
        }
        Ok(Output::of_file(self.file(path)?))
    }

    /// Creates a file of the set; see [`AtomicFile::create`].
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn file(&self, path: impl AsRef<Path>) -> Result<AtomicFile, Error> {
        let path = path.as_ref();
        AtomicFile::begin(path, self.join())
    }

    /// Makes all files appear that were finished since the last call. Their data are already on disk.
    ///
    /// # Errors
    ///
    /// If a file cannot be renamed. The files before it are then removed again, and the files that they replaced
    /// are restored (unless the file system can neither exchange names nor create hard links).
    pub fn commit(&self) -> Result<(), Error> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let Some(first) = state.written.first() else { return Ok(()) };
        let failed = |cause| Error::Write { path: first.path().to_owned(), cause: Arc::new(cause) };
        let appearing = Appearing::begin().map_err(failed)?;
        let files = std::mem::take(&mut state.written);
        let directories: BTreeSet<PathBuf> =
            files.iter().map(|file| directory_of(file.target()).to_owned()).collect();
        // No memory is allocated between the first and the last rename: running out of memory would end the process
        // with only some of the files.
        let mut appeared = Vec::with_capacity(files.len());
        for file in files {
            match file.appear_for_now() {
                Ok(file) => appeared.push(file),
                Err(error) => {
                    // In reverse order, in case two files have the same path.
                    appeared.into_iter().rev().for_each(Appeared::take_back);
                    return Err(error);
                }
            }
        }
        drop(appeared);
        appearing.done();
        directories.iter().for_each(|directory| sync_directory(directory));
        Ok(())
    }

    /// Calls [`commit`](Self::commit) as the last step of a program. Running out of memory afterwards is not an
    /// error any more ([`merganser_run::all_is_done`]).
    ///
    /// # Errors
    ///
    /// See [`commit`](Self::commit).
    pub fn commit_last(&self) -> Result<(), Error> {
        self.commit()?;
        merganser_run::all_is_done();
        Ok(())
    }

    /// Returns the size in bytes of the finished file that was created as `path` and has not appeared yet; 0 if
    /// there is no such file.
    pub fn bytes_of(&self, path: &Path) -> u64 {
        let Some(state) = self.state() else { return 0 };
        state.written.iter().filter(|file| file.path() == path).map(Named::bytes).sum()
    }

    /// Returns the temporary path of the finished file that was created as `path`, to read it before it appears.
    pub fn finished(&self, path: &Path) -> Option<PathBuf> {
        let state = self.state()?;
        let file = state.written.iter().find(|file| file.path() == path)?;
        Some(file.temporary().to_owned())
    }

    fn state(&self) -> Option<MutexGuard<'_, SetMembers>> {
        Some(lock(self.0.as_ref()?))
    }

    fn join(&self) -> Member {
        Member::of(self.0.clone())
    }
}
