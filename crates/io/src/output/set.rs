//! The outputs of a run, which appear together.

use super::atomic::AtomicFile;
use super::member::{Member, State};
use super::named::{Named, directory_of, sync_directory};
use super::temporaries::Appearing;
use super::{Output, StdoutWriter};
use crate::Error;
use merganser_run::locks::lock;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The outputs of a run: none of their files appears before [`commit`](Self::commit), and then all
/// do. Clones are the same set.
///
/// A pipe whose reader goes away ([`std::io::ErrorKind::BrokenPipe`]) is no error as long as the set has
/// other outputs: what would go to it is dropped from then on, and the others become whole. An error
/// it is for the last one.
#[derive(Clone, Debug)]
pub struct OutputSet(Option<Arc<Mutex<State>>>);

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
            return Ok(Output::Stdout(Box::new(StdoutWriter::new(self.join()))));
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
    /// If one cannot be given its name. Those before it are taken back, but for those that have
    /// taken the place of another file.
    pub fn commit(&self) -> Result<(), Error> {
        let Some(mut state) = self.state() else { return Ok(()) };
        let (mut new, mut directories) = (Vec::new(), BTreeSet::new());
        let Some(first) = state.written.first() else { return Ok(()) };
        let failed = |cause| Error::Write { path: first.path().to_owned(), cause: Arc::new(cause) };
        let appearing = Appearing::begin().map_err(failed)?;
        for file in std::mem::take(&mut state.written) {
            let target = file.target().to_owned();
            let is_new = fs::symlink_metadata(&target).is_err();
            if let Err(error) = file.appear() {
                for path in new {
                    let _ = fs::remove_file(path);
                }
                return Err(error);
            }
            directories.insert(directory_of(&target).to_owned());
            new.extend(is_new.then_some(target));
        }
        appearing.done();
        directories.iter().for_each(|directory| sync_directory(directory));
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

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        Some(lock(self.0.as_ref()?))
    }

    fn join(&self) -> Member {
        Member::of(self.0.clone())
    }
}
