//! Membership of an output in its set.

use super::named::Named;
use crate::Error;
use merganser_run::locks::lock;
use std::io;
use std::sync::{Arc, Mutex};

/// The shared state of the outputs of a set.
#[derive(Debug, Default)]
pub(super) struct SetMembers {
    /// The number of outputs that are still wanted.
    wanted: usize,
    /// The complete files, in the order in which they were finished.
    pub(super) written: Vec<Named>,
}

/// The membership of an output in its set.
#[derive(Debug)]
pub(super) struct Member {
    set: Option<Arc<Mutex<SetMembers>>>,
    gone: bool,
}

impl Member {
    /// Adds an output to a set, if there is one.
    pub(super) fn of(set: Option<Arc<Mutex<SetMembers>>>) -> Member {
        if let Some(set) = &set {
            lock(set).wanted += 1;
        }
        Member { set, gone: false }
    }

    /// Creates the membership of an output without a set.
    pub(super) fn alone() -> Member {
        Member::of(None)
    }

    /// Whether the reader of this output has gone away, so that it need not be written any more.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Passes on the result of a write. A broken pipe is not an error while the set has other outputs.
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

    /// Hands a complete file to the set, or makes it appear at once if there is no set.
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
