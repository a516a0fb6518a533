//! Stopping a run from outside, e.g. at Ctrl-C.

use crate::sync::{Arc, AtomicBool};
use std::sync::atomic::Ordering;

/// A flag shared by whoever may stop a run and those who work in it; clones are the same flag.
/// Workers look at it between units of work of a few milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks all who hold a clone to stop. Safe to call from a signal handler, and more than once.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether [`cancel`](Self::cancel) was called on any clone.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The error of a run that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Cancelled;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Cancel;

    #[test]
    fn clones_share_the_flag() {
        let cancel = Cancel::default();
        let other = cancel.clone();
        assert!(!other.is_cancelled());
        cancel.cancel();
        assert!(other.is_cancelled());
    }
}
