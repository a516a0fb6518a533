//! The number of threads of a run, and starting them.

use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread::{self, JoinHandle, Scope, ScopedJoinHandle};

use rustix::process::{Resource, getrlimit};

use crate::memory::address_space_limit;

/// Returns the number of threads to use: `requested` (at least 1), or, for `None`, as many as the
/// process may run at once (according to its CPU affinity and cgroup quota).
pub fn resolve_threads(requested: Option<usize>) -> usize {
    match requested {
        Some(threads) => threads.max(1),
        None => thread::available_parallelism().map_or(1, NonZero::get),
    }
}

/// The error of a thread that could not be started, because a limit of the system or of the user is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot start another thread: {reason}; lower `threads`, or raise the limits of processes and \
     memory (ulimit -u, ulimit -v)"
)]
pub struct StartError {
    /// The error message of the system.
    pub reason: String,
}

impl From<io::Error> for StartError {
    fn from(cause: io::Error) -> StartError {
        let text = cause.to_string();
        let end = text.rfind(" (os error ").unwrap_or(text.len());
        StartError { reason: text[..end].to_lowercase() }
    }
}

/// Starts a thread that outlives its caller, and waits until it has begun: a thread that cannot begin for lack of
/// memory ends the process, which must not happen once all results are complete.
///
/// All threads of the workspace are started here or in [`start_scoped`], because `std::thread::spawn` and
/// `Scope::spawn` panic if the system cannot start more.
///
/// # Errors
/// If the system cannot start a thread.
pub fn start<F, T>(work: F) -> Result<JoinHandle<T>, StartError>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    check_room()?;
    let (begun, has_begun) = mpsc::sync_channel(1);
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(move || {
        let _ = begun.send(());
        work()
    });
    let thread = thread::Builder::new().spawn(work)?;
    let _ = has_begun.recv();
    Ok(thread)
}

/// Starts a thread of a scope.
///
/// # Errors
/// If the system cannot start a thread. The scope still waits for its running threads at its end, so
/// the caller must make them end.
pub fn start_scoped<'scope, F, T>(
    scope: &'scope Scope<'scope, '_>,
    work: F,
) -> Result<ScopedJoinHandle<'scope, T>, StartError>
where
    F: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    check_room()?;
    // Boxed: the standard library's code is then compiled for each result, not for each closure.
    let work: Box<dyn FnOnce() -> T + Send + 'scope> = Box::new(work);
    Ok(thread::Builder::new().spawn_scoped(scope, work)?)
}

/// Waits for a thread of a scope and returns its result. Resumes its panic here.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs the work of the main thread. If the limit of its stack (`ulimit -s`) is below 8 MiB, the usual default, it
/// runs on another thread, to whose stack that limit does not apply, while this one waits. Must be called
/// before much of the stack is used. A panic of `work` is resumed here.
///
/// # Errors
/// If a thread is needed and the system cannot start one.
pub fn with_ample_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StartError> {
    const AMPLE: u64 = 8 << 20;
    // Miri does not support the call.
    let limit = if cfg!(miri) { None } else { getrlimit(Resource::Stack).current };
    if limit.is_none_or(|limit| limit >= AMPLE) {
        return Ok(work());
    }
    check_room()?;
    let builder = thread::Builder::new().name("main".into()).stack_size(AMPLE as usize);
    Ok(builder.spawn(work)?.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// If the address space is limited, checks that there is room for a thread's stack and for what
/// the standard library sets up before the thread's own work begins: it aborts if that setup fails.
fn check_room() -> Result<(), StartError> {
    // More than the allocator's largest mmap threshold, 32 MiB, so that the memory is mapped separately.
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
