//! Waiting for processes, with the largest resident size that they had (`wait4`, which std does not have), and for threads.
#![allow(unsafe_code, reason = "a call of the system")]

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// The status and peak in bytes of a child that has ended; `None` while it runs. Afterwards the process is
/// no more: its number must not be used again.
///
/// The peak is not less than this process's own at the time of the start, from which the child was made.
pub(crate) fn ended(process: u32) -> Option<(ExitStatus, u64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are to live places of these types; all zeros are a `rusage`.
    let (found, usage) = unsafe {
        let process = process as libc::pid_t;
        let found = libc::wait4(process, &raw mut status, libc::WNOHANG, usage.as_mut_ptr());
        (found, usage.assume_init())
    };
    assert!(found >= 0, "process {process} is no child, or was waited for already");
    let peak = usage.ru_maxrss as u64 * 1024;
    (found > 0).then(|| (ExitStatus::from_raw(status), peak))
}

/// Sends a signal to a child that has not been waited for.
pub(crate) fn signal(process: u32, signal: i32) {
    // SAFETY: plain numbers; the process is a child that at worst has ended, and keeps its number until
    // it is waited for.
    let sent = unsafe { libc::kill(process as libc::pid_t, signal) };
    assert_eq!(sent, 0, "signal {signal} to {process}");
}

/// Waits for a thread that reads or writes a named pipe, and gives it the other end, without which it would wait for ever.
/// It may open the pipe late.
pub(crate) fn released<T>(pipe: &Path, thread: JoinHandle<T>) -> T {
    while !thread.is_finished() {
        drop(File::options().read(true).write(true).open(pipe));
        sleep(Duration::from_millis(2));
    }
    thread.join().unwrap()
}
