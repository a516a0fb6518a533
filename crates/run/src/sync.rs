//! What threads meet by: the standard library's, or loom's while the models of `models.rs` are tested.

#[cfg(not(all(loom, test)))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, atomic::AtomicBool};

#[cfg(all(loom, test))]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic::AtomicBool};
