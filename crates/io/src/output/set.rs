//! The outputs of a run, which appear together.

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

/// The outputs of a run: none of their files appears before [`commit`](Self::commit), and then all
/// do. Clones are the same set.
///
/// A pipe whose reader goes away ([`std::io::ErrorKind::BrokenPipe`]) is no error as long as the set has
/// other outputs: what would go to it is dropped from then on, and the others become whole. An error
/// it is for the last one.
#[derive(Clone, Debug)]
pub struct OutputSet(Option<Arc<Mutex<SetMembers>>>);

impl OutputSet {
    /// A set without outputs yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "two kinds: neither is the one to assume")]
    pub fn new() -> OutputSet {
        OutputSet(Some(Arc::default()))
    }

    /// No set: each file appears by itself as soon as it is finished.
    #[must_use]
    pub fn alone() -> OutputSet {
        OutputSet(None)
    }

    /// Begins an output of the set; see [`Output::create`].
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn output(&self, path: &Path) -> Result<Output, Error> {
        if path.as_os_str() == "-" {
            return Ok(Output::Stdout(Box::new(StdoutWriter::new(self.join())?)));
        }
        Ok(Output::of_file(self.file(path)?))
    }

    /// Begins a file of the set; see [`AtomicFile::create`].
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn file(&self, path: &Path) -> Result<AtomicFile, Error> {
        AtomicFile::begin(path, self.join())
    }

    /// Makes all files appear that were finished since this was last done. On disk they are
    /// already.
    ///
    /// # Errors
    ///
    /// If one cannot be given its name. Those before it are then gone again, and what they replaced is
    /// back (but where the file system can neither exchange names nor give a file two).
    pub fn commit(&self) -> Result<(), Error> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let Some(first) = state.written.first() else { return Ok(()) };
        let failed = |cause| Error::Write { path: first.path().to_owned(), cause: Arc::new(cause) };
        let appearing = Appearing::begin().map_err(failed)?;
        let files = std::mem::take(&mut state.written);
        let directories: BTreeSet<PathBuf> =
            files.iter().map(|file| directory_of(file.target()).to_owned()).collect();
        // No memory is asked for from the first name to the last one: where there is none, the process
        // ends with what has appeared by then.
        let mut appeared = Vec::with_capacity(files.len());
        for file in files {
            match file.appear_for_now() {
                Ok(file) => appeared.push(file),
                Err(error) => {
                    // In reverse, should two have gone to the same place.
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

    /// [`commit`](Self::commit), after which a program has nothing more to do but to say so: memory that
    /// is then missing is no error any more ([`merganser_run::all_is_done`]).
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub fn commit_last(&self) -> Result<(), Error> {
        self.commit()?;
        merganser_run::all_is_done();
        Ok(())
    }

    /// Bytes of the finished file that was begun as `path` and is to appear; 0 if there is none.
    pub fn bytes_of(&self, path: &Path) -> u64 {
        let Some(state) = self.state() else { return 0 };
        state.written.iter().filter(|file| file.path() == path).map(Named::bytes).sum()
    }

    /// Where the finished file that was begun as `path` stands until it appears, to be read.
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
