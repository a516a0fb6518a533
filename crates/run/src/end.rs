//! Ending the process at once, whatever its threads are at.

use std::io::{IoSlice, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Somebody says, or has said, how the run ended.
static TOLD: AtomicBool = AtomicBool::new(false);
/// All results are there.
static DONE: AtomicBool = AtomicBool::new(false);

/// Whether it is still to be said how the run ended; who asks has to. Threads may come to their ends at
/// the same time, and users want one line.
pub fn is_to_be_told() -> bool {
    !TOLD.swap(true, Ordering::AcqRel)
}

/// Notes that all results are there: should memory be missing from now on, the run has gone well.
pub fn all_is_done() {
    DONE.store(true, Ordering::Release);
}

/// Ends the process as memory is missing or a library gave up, and says `line` of it: with 0 where all
/// results are there.
pub(crate) fn end_without(line: &[u8]) -> ! {
    if DONE.load(Ordering::Acquire) {
        end_at_once(0, b"");
    }
    end_at_once(1, if is_to_be_told() { line } else { b"" })
}

/// Says a line (given without its end; none if it is empty) on stderr and ends the process: nothing is unwound, flushed or
/// waited for, nor is memory allocated or a lock taken. What has a name on disk and should not stay,
/// the caller removes before.
pub fn end_at_once(code: i32, line: &[u8]) -> ! {
    say_line(line);
    signal_hook::low_level::exit(code)
}

/// Says a line, unless it is empty, as [`end_at_once`] does, and unless somebody would have to read from stderr first. All of it
/// is written at once: another thread may end the process in the next moment.
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
    // A progress bar may stand there.
    let clear: &[u8] = if std::io::stderr().is_terminal() { b"\r\x1b[K" } else { b"" };
    let _ = rustix::io::writev(stderr, &[clear, line, b"\n"].map(IoSlice::new));
}
