//! Waits for threads, and for processes with their peak resident size (`wait4`, which std lacks).
#![allow(unsafe_code, reason = "wait4 and kill are unsafe")]

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Returns the exit status and the peak in bytes of a child that has ended; `None` while it runs. After the end, the
/// number of the process must not be used again.
///
/// The peak is at least the size of this process at the fork.
pub(crate) fn ended(process: u32) -> Option<(ExitStatus, u64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers refer to live variables of these types, and an all-zero `rusage` is valid.
    let (found, usage) = unsafe {
        let process = process as libc::pid_t;
        let found = libc::wait4(process, &raw mut status, libc::WNOHANG, usage.as_mut_ptr());
        (found, usage.assume_init())
    };
    assert!(found >= 0, "process {process} is not a child, or has been waited for already");
    let peak = usage.ru_maxrss as u64 * 1024;
    (found > 0).then(|| (ExitStatus::from_raw(status), peak))
}

/// Sends a signal to a child that has not been waited for.
pub(crate) fn signal(process: u32, signal: i32) {
    // SAFETY: the arguments are plain numbers; the process is a child, which keeps its number until it is waited for.
    let sent = unsafe { libc::kill(process as libc::pid_t, signal) };
    assert_eq!(sent, 0, "signal {signal} to {process}");
}

/// Waits for a thread that reads or writes a named pipe. Opens the other end of the pipe meanwhile, so that the
/// thread cannot block forever, however late it opens its end.
pub(crate) fn released<T>(pipe: &Path, thread: JoinHandle<T>) -> T {
    while !thread.is_finished() {
        drop(File::options().read(true).write(true).open(pipe));
        sleep(Duration::from_millis(2));
    }
    thread.join().unwrap()
}
