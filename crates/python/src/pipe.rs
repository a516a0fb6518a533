//! Receives the text that a job writes, without a file.

use std::io::{self, BufReader, PipeReader};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;

/// The bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// Runs `job` with the path of an output, and `read` on another thread with the text that is written to it. If `read`
/// fails, the rest of the text is dropped.
///
/// # Errors
/// Returns the error of the job, otherwise that of `read`.
pub(crate) fn through<D, R: Send, E: From<io::Error>>(
    job: impl FnOnce(&Path) -> Result<D, E>,
    read: impl FnOnce(&mut BufReader<PipeReader>) -> io::Result<R> + Send,
) -> Result<(D, R), E> {
    let (reader, writer) = io::pipe()?;
    let path = PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()));
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            let mut text = BufReader::with_capacity(BUFFER, reader);
            let received = read(&mut text);
            if received.is_err() {
                io::copy(&mut text, &mut io::sink())?;
            }
            received
        });
        let done = job(&path);
        // The text ends when nothing can write to it any more.
        drop(writer);
        let received = receiver.join();
        let done = done?;
        match received {
            Ok(received) => Ok((done, received?)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
