//! Locks that ignore poisoning.
//!
//! A mutex is poisoned if a worker panicked while holding it. Here that is harmless: each state is valid at
//! every step, and the panic is resumed by the thread that
//! joins the worker ([`run_workers`](crate::run_workers)), which ends the run. Until then the other threads
//! must be able to notice that it ends, so they lock and wait as if nothing had happened.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
use std::time::Duration;

/// Locks a mutex, poisoned or not.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification; as with any condition variable, the caller must check its condition again.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification, at most this long.
pub fn wait_timeout<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    most: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}

/// Returns the content of a mutex that is no longer shared, poisoned or not.
pub fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_panic_hides_nothing() {
        let (mutex, changed) = (Mutex::new(1), Condvar::new());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            *lock(&mutex) = 2;
            let _guard = lock(&mutex);
            panic!("while it is locked");
        }));
        assert!(panicked.is_err() && mutex.is_poisoned());
        let guard = wait_timeout(&changed, lock(&mutex), Duration::ZERO);
        assert_eq!(*guard, 2);
        drop(guard);
        assert_eq!(into_inner(mutex), 2);
    }
}
