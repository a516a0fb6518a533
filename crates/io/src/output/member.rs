//! An output's place among the others of its set.

use super::named::Named;
use crate::Error;
use merganser_run::locks::lock;
use std::io;
use std::sync::{Arc, Mutex};

/// The outputs of a set, as far as they know of each other.
#[derive(Debug, Default)]
pub(super) struct SetMembers {
    /// Outputs that are still wanted.
    wanted: usize,
    /// Files that are written, in the order in which they were finished.
    pub(super) written: Vec<Named>,
}

/// An output's place in its set.
#[derive(Debug)]
pub(super) struct Member {
    set: Option<Arc<Mutex<SetMembers>>>,
    gone: bool,
}

impl Member {
    /// One more output of a set, if there is one.
    pub(super) fn of(set: Option<Arc<Mutex<SetMembers>>>) -> Member {
        if let Some(set) = &set {
            lock(set).wanted += 1;
        }
        Member { set, gone: false }
    }

    /// Of no set.
    pub(super) fn alone() -> Member {
        Member::of(None)
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
        let Some(set) = &self.set else { return result };
        let mut state = lock(set);
        state.wanted -= 1;
        self.gone = state.wanted > 0;
        if self.gone { Ok(()) } else { result }
    }

    /// Has the file appear with the set, or at once if there is none.
    pub(super) fn hand_over(&self, file: Named) -> Result<(), Error> {
        match &self.set {
            Some(set) => {
                lock(set).written.push(file);
                Ok(())
            }
            None => file.appear_alone(),
        }
    }
}
