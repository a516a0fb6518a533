//! Locks that outlive a panic: `merganser_run::locks` says why. This crate imports nobody of ours.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks a mutex, whoever panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something changed, whoever panicked.
pub(crate) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
