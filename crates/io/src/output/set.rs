//! The outputs of a run, which appear together.

use super::atomic::{AtomicFile, Named};
use super::{Output, StdoutWriter};
use crate::Error;
use merganser_run::locks::lock;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The outputs of a run: none of their files appears before [`commit`](Self::commit), and then all
/// do. Clones are the same set.
///
/// A pipe whose reader goes away ([`io::ErrorKind::BrokenPipe`]) is no error as long as the set has
/// other outputs: what would go to it is dropped from then on, and the others become whole. An error
/// it is for the last one.
#[derive(Clone, Debug)]
pub struct OutputSet(Option<Arc<Mutex<State>>>);

#[derive(Debug, Default)]
struct State {
    /// Outputs that are still wanted.
    wanted: usize,
    /// Files that are written, in the order in which they were finished.
    written: Vec<Named>,
}

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
        let mut new = Vec::new();
        let mut directories = BTreeSet::new();
        for file in std::mem::take(&mut state.written) {
            let target = file.target().to_owned();
            let is_new = fs::symlink_metadata(&target).is_err();
            if let Err(error) = file.appear() {
                for path in new {
                    let _ = fs::remove_file(path);
                }
                return Err(error);
            }
            directories.insert(super::atomic::directory_of(&target).to_owned());
            new.extend(is_new.then_some(target));
        }
        directories.iter().for_each(|directory| super::atomic::sync_directory(directory));
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
        if let Some(mut state) = self.state() {
            state.wanted += 1;
        }
        Member { set: self.clone(), gone: false }
    }
}

/// An output's place in its set.
#[derive(Debug)]
pub(super) struct Member {
    set: OutputSet,
    gone: bool,
}

impl Member {
    /// Of no set.
    pub(super) fn alone() -> Member {
        Member { set: OutputSet::alone(), gone: false }
    }

    /// Whether its reader went away, so that nothing need be written any more.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Passes on how writing went, but for the one error that is none where other outputs are
    /// left.
    pub(super) fn written(&mut self, result: io::Result<()>) -> io::Result<()> {
        let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        if !result.as_ref().is_err_and(broken) {
            return result;
        }
        let Some(mut state) = self.set.state() else { return result };
        state.wanted -= 1;
        self.gone = state.wanted > 0;
        if self.gone { Ok(()) } else { result }
    }

    /// Has the file appear with the set, or at once if there is none.
    pub(super) fn hand_over(&self, file: Named) -> Result<(), Error> {
        match self.set.state() {
            Some(mut state) => {
                state.written.push(file);
                Ok(())
            }
            None => file.appear_alone(),
        }
    }
}
