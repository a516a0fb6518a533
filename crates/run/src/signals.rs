//! Signals that end a process.
#![allow(unsafe_code, reason = "system calls that the standard library does not have")]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use crate::end::say_line;

/// Signals that users, other programs and the system send, and that end a process which does not handle them.
/// Real-time signals do so, too. Not included are signals of faults (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP,
/// SIGSYS, SIGABRT), and SIGPIPE and SIGXFSZ, which make a write fail.
const ENDING: &[c_int] = &[
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    #[cfg(target_os = "linux")]
    libc::SIGIO,
    #[cfg(target_os = "linux")]
    libc::SIGPWR,
    #[cfg(target_os = "linux")]
    libc::SIGSTKFLT,
];

/// Returns the signals that would end the process: sent to end it, and neither ignored nor handled so far. A
/// signal that was ignored when the process started (`nohup`, background jobs of scripts) must stay ignored,
/// and one that a preloaded library handles belongs to that library.
pub fn ending_signals() -> Vec<c_int> {
    let all = ENDING.iter().copied().chain(real_time());
    all.filter(|&signal| action(signal) == Some(libc::SIG_DFL)).collect()
}

#[cfg(target_os = "linux")]
fn real_time() -> Vec<c_int> {
    (libc::SIGRTMIN()..=libc::SIGRTMAX()).collect()
}

#[cfg(not(target_os = "linux"))]
fn real_time() -> Vec<c_int> {
    Vec::new()
}

/// Returns whether a signal is ignored.
pub fn is_ignored(signal: c_int) -> bool {
    action(signal) == Some(libc::SIG_IGN)
}

/// Returns the handler of a signal; `None` if the system does not know the signal.
fn action(signal: c_int) -> Option<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the pointer is to a local of this type, for which zeros are a valid value.
    unsafe {
        let looked_up = libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0;
        looked_up.then(|| action.assume_init().sa_sigaction)
    }
}

/// Writes a line (without line feed; nothing if it is empty) to stderr and ends the process by the default
/// action of a signal, so that the parent process sees the signal: shells show 128 + `signal`. Otherwise like
/// [`end_at_once`](crate::end_at_once).
pub fn end_by(signal: c_int, line: &[u8]) -> ! {
    say_line(line);
    // SAFETY: zeros are a valid action (the default one) and a valid set; all pointers are to locals.
    unsafe {
        let default = MaybeUninit::<libc::sigaction>::zeroed();
        libc::sigaction(signal, default.as_ptr(), ptr::null_mut());
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
        libc::raise(signal);
    }
    // Default actions do not end the first process of a container.
    signal_hook::low_level::exit(128 + signal)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{ending_signals, is_ignored};

    #[test]
    fn signals_of_faults_and_what_is_ignored_are_left_alone() {
        let signals = ending_signals();
        assert!(signals.contains(&libc::SIGUSR1) && signals.contains(&libc::SIGXCPU));
        // The standard library ignores SIGPIPE in programs and tests.
        assert!(is_ignored(libc::SIGPIPE) && !is_ignored(libc::SIGUSR1));
        for signal in [libc::SIGPIPE, libc::SIGSEGV, libc::SIGKILL, libc::SIGCHLD, libc::SIGWINCH] {
            assert!(!signals.contains(&signal));
        }
    }
}
