//! Immediate end of the process.

use std::io::{IoSlice, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether a thread has taken on the report of how the run ended.
static TOLD: AtomicBool = AtomicBool::new(false);
/// Whether all results are complete.
static DONE: AtomicBool = AtomicBool::new(false);

/// Returns whether the end of the run is still to be reported; if so, the caller must report it. Threads may
/// end the run at the same time, but users want one line.
pub fn is_to_be_told() -> bool {
    !TOLD.swap(true, Ordering::AcqRel)
}

/// Notes that all results are complete: if memory runs out from now on, the run has succeeded.
pub fn all_is_done() {
    DONE.store(true, Ordering::Release);
}

/// Ends the process after memory ran out or a library gave up, and prints `line`; exits with 0 if all
/// results are complete.
pub(crate) fn end_without(line: &[u8]) -> ! {
    if DONE.load(Ordering::Acquire) {
        end_at_once(0, b"");
    }
    end_at_once(1, if is_to_be_told() { line } else { b"" })
}

/// Prints a line (without line feed; nothing if it is empty) to stderr and ends the process. Nothing is
/// unwound, flushed or waited for, no memory is allocated and no lock taken. The caller has removed files that
/// should not remain.
pub fn end_at_once(code: i32, line: &[u8]) -> ! {
    say_line(line);
    signal_hook::low_level::exit(code)
}

/// Prints a line, unless it is empty, or stderr is full, which would block. The line is
/// written at once, since another thread may end the process in the next moment.
pub(crate) fn say_line(line: &[u8]) {
    if line.is_empty() {
        return;
    }
    let stderr = rustix::stdio::stderr();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut wanted = [PollFd::from_borrowed_fd(stderr, PollFlags::OUT)];
    if !poll(&mut wanted, Some(&now)).is_ok_and(|ready| ready > 0) {
        return;
    }
    // Overwrites a progress bar, which may be in this line.
    let clear: &[u8] = if std::io::stderr().is_terminal() { b"\r\x1b[K" } else { b"" };
    let _ = rustix::io::writev(stderr, &[clear, line, b"\n"].map(IoSlice::new));
}
