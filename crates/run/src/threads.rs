//! How many threads a run may use in all, and starting them.

use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread::{self, JoinHandle, Scope, ScopedJoinHandle};

use rustix::process::{Resource, getrlimit};

use crate::memory::address_space_limit;

/// The number of threads to use: what was `requested` (at least 1), or, for `None`, as many as the
/// process may run at once (its CPU affinity and cgroup quota are heeded).
pub fn resolve_threads(requested: Option<usize>) -> usize {
    match requested {
        Some(threads) => threads.max(1),
        None => thread::available_parallelism().map_or(1, NonZero::get),
    }
}

/// A thread could not be started, as a limit of the system or of the user is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot start another thread: {reason}; lower `threads`, or raise the limits of processes and \
     memory (ulimit -u, ulimit -v)"
)]
pub struct StartError {
    /// What the system said.
    pub reason: String,
}

impl From<io::Error> for StartError {
    fn from(cause: io::Error) -> StartError {
        let text = cause.to_string();
        let end = text.rfind(" (os error ").unwrap_or(text.len());
        StartError { reason: text[..end].to_lowercase() }
    }
}

/// Starts a thread that outlives its caller, and waits until it has begun: one that cannot for want of
/// memory ends the process, which is not to happen when all results are there. All threads of the
/// workspace start here or in [`start_scoped`]: `std::thread::spawn` and `Scope::spawn` panic where there
/// can be no more.
///
/// # Errors
/// If the system does not give one.
pub fn start<F, T>(work: F) -> Result<JoinHandle<T>, StartError>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    check_room()?;
    let (begun, has_begun) = mpsc::sync_channel(1);
    let work = move || {
        let _ = begun.send(());
        work()
    };
    let thread = thread::Builder::new().spawn(work)?;
    let _ = has_begun.recv();
    Ok(thread)
}

/// Starts a thread of a scope.
///
/// # Errors
/// If the system does not give one. Those of the scope that run are waited for at its end all the
/// same: whatever they wait on must let them end.
pub fn start_scoped<'scope, F, T>(
    scope: &'scope Scope<'scope, '_>,
    work: F,
) -> Result<ScopedJoinHandle<'scope, T>, StartError>
where
    F: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    check_room()?;
    Ok(thread::Builder::new().spawn_scoped(scope, work)?)
}

/// Waits for a thread of a scope and returns what it did. Its panic goes on here.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs the work of the main thread. Where the limit of its stack (`ulimit -s`) is below 8 MiB, as systems set it by default, it
/// runs on another thread, whose stack that limit does not hold for, while this one waits. To be called before much of
/// the stack is used. A panic of `work` goes on here.
///
/// # Errors
/// If the system does not give a thread where one is needed.
pub fn with_ample_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StartError> {
    const AMPLE: u64 = 8 << 20;
    // Miri does not know the call.
    let limit = if cfg!(miri) { None } else { getrlimit(Resource::Stack).current };
    if limit.is_none_or(|limit| limit >= AMPLE) {
        return Ok(work());
    }
    check_room()?;
    let builder = thread::Builder::new().name("main".into()).stack_size(AMPLE as usize);
    Ok(builder.spawn(work)?.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Where address space is limited, sees to it that there is some left for a thread's stack and what
/// the library sets up before the thread's own work begins: if that fails, it aborts.
fn check_room() -> Result<(), StartError> {
    // More than the allocator's largest threshold, 32 MiB, so that it is mapped for this alone.
    const ROOM: usize = 33 << 20;
    if address_space_limit().is_none() {
        return Ok(());
    }
    let room = crate::allocator::may_fail(|| Vec::<u8>::new().try_reserve_exact(ROOM).is_ok());
    let reason = "there is no memory left for it";
    if room { Ok(()) } else { Err(StartError { reason: reason.into() }) }
}

#[cfg(test)]
mod tests {
    use super::{StartError, resolve_threads, start};

    #[test]
    fn asked_for_or_all() {
        assert_eq!(resolve_threads(Some(3)), 3);
        assert_eq!(resolve_threads(Some(0)), 1);
        assert!(resolve_threads(None) >= 1);
    }

    #[test]
    fn a_thread_that_cannot_start_is_named() {
        assert_eq!(start(|| 7).unwrap().join().unwrap(), 7);
        let error = StartError::from(std::io::Error::from_raw_os_error(11));
        assert_eq!(
            error.to_string(),
            "cannot start another thread: resource temporarily unavailable; lower `threads`, or \
             raise the limits of processes and memory (ulimit -u, ulimit -v)"
        );
    }
}
