//! Cancellation of a run from outside, such as by Ctrl-C.

use crate::sync::{Arc, AtomicBool};
use std::sync::atomic::Ordering;

/// A flag that cancels a run; clones share it. Workers check it between units of work of a few milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// The flag that cancels this part of a run, too.
    outer: Option<Arc<Cancel>>,
}

impl Cancel {
    /// Returns a flag that cancels a part of this run by itself; cancelling the run cancels the part as well.
    #[must_use]
    pub fn of_part(&self) -> Cancel {
        Cancel { flag: Arc::default(), outer: Some(Arc::new(self.clone())) }
    }

    /// Cancels the run. Safe to call from a signal handler, and more than once. A thread that finds the run cancelled also
    /// sees what the calling thread wrote before, such as the reason.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Returns whether [`cancel`](Self::cancel) was called on any clone.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let is_above = || self.outer.as_ref().is_some_and(|outer| outer.is_cancelled());
        self.flag.load(Ordering::Acquire) || is_above()
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
    fn a_part_is_cancelled_by_itself_or_with_the_run() {
        let run = Cancel::default();
        let [part, other] = [run.of_part(), run.of_part().of_part()];
        part.clone().cancel();
        assert_eq!([&run, &part, &other].map(Cancel::is_cancelled), [false, true, false]);
        run.cancel();
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
