//! Locks that outlive a panic.
//!
//! A mutex is poisoned where a worker panicked while it held it. Here that says nothing about what
//! the mutex holds: each state is valid at every step, and the panic itself is carried on by whoever
//! joins the worker ([`run_workers`](crate::run_workers)), which ends the run. Until then the others
//! must be able to see that it ends, and so they lock, wait and look as if nothing had happened.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
use std::time::Duration;

/// Locks a mutex, whoever panicked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something changed; as with any condition variable, look again what.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something changed, or this long.
pub fn wait_timeout<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    most: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}

/// What a mutex holds that nobody uses any more.
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
