//! Cancellation of a run from outside, such as by Ctrl-C.

use crate::sync::{Arc, AtomicBool};
use std::sync::atomic::Ordering;

/// A flag that cancels a run; clones share it. Workers check it between units of work of a few milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the run. Safe to call from a signal handler, and more than once.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether [`cancel`](Self::cancel) was called on any clone.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Returns an error if [`cancel`](Self::cancel) was called; for use with `?` between units of work.
    ///
    /// # Errors
    /// [`Cancelled`] if the run was cancelled.
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Returns `done`, with any error replaced by [`Cancelled`] if the run was cancelled, because the error may be a
    /// consequence of the cancellation.
    ///
    /// # Errors
    /// The error of `done`, or [`Cancelled`].
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
