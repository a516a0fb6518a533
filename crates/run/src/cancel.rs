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

    /// Returns an error if [`cancel`](Self::cancel) was called: for a `?` between units of work.
    ///
    /// # Errors
    /// [`Cancelled`].
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Returns `done`, but [`Cancelled`] for any error of a run that was cancelled: the error may be what
    /// the cancellation has led to.
    ///
    /// # Errors
    /// As `done`.
    pub fn over_error<T, E: From<Cancelled>>(&self, done: Result<T, E>) -> Result<T, E> {
        done.map_err(|error| if self.is_cancelled() { Cancelled.into() } else { error })
    }
}

/// The error of a run that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Cancelled;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Cancel, Cancelled};

    #[test]
    fn clones_share_the_flag() {
        let cancel = Cancel::default();
        let other = cancel.clone();
        assert!(!other.is_cancelled());
        cancel.cancel();
        assert!(other.is_cancelled());
    }

    #[test]
    fn a_cancelled_run_has_that_error() {
        let cancel = Cancel::default();
        let failed = Err::<(), Option<Cancelled>>(None);
        assert_eq!((cancel.check(), cancel.over_error(failed)), (Ok(()), Err(None)));
        cancel.cancel();
        assert_eq!(cancel.check(), Err(Cancelled));
        assert_eq!(cancel.over_error(failed), Err(Some(Cancelled)));
        assert_eq!(cancel.over_error(Ok::<_, Cancelled>(1)), Ok(1));
    }
}
