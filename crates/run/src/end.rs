//! Ending the process at once, whatever its threads are at.

use std::io::IsTerminal;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Says a line (given without its end; none if it is empty) on stderr and ends the process: nothing is unwound, flushed or
/// waited for, nor is memory allocated or a lock taken. What has a name on disk and should not stay,
/// the caller removes before.
pub fn end_at_once(code: i32, line: &[u8]) -> ! {
    if !line.is_empty() {
        // A progress bar may stand there.
        if std::io::stderr().is_terminal() {
            say(b"\r\x1b[K");
        }
        say(line);
        say(b"\n");
    }
    signal_hook::low_level::exit(code)
}

/// Writes to stderr, unless somebody would have to read from it first.
fn say(text: &[u8]) {
    let stderr = rustix::stdio::stderr();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut wanted = [PollFd::from_borrowed_fd(stderr, PollFlags::OUT)];
    if poll(&mut wanted, Some(&now)).is_ok_and(|ready| ready > 0) {
        let _ = rustix::io::write(stderr, text);
    }
}
