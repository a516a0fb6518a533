//! Cleanup when a library aborts the process or panics for lack of memory.
//!
//! In a few places the standard library asks the system for memory without the program's allocator, and aborts if
//! that fails: for a thread's own record, and for the stack on which a new thread would handle a stack
//! overflow. The C library does so for the destructors that run when a thread ends. Other libraries panic,
//! although the program is not at fault.
#![allow(unsafe_code, reason = "installs a signal handler")]

use std::io;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{emulate_default_handler, register};

use crate::end::end_without;
use crate::signals::is_ignored;

/// Whether a panic was reported. An abort after it is a fault of the program.
static PANICKED: AtomicBool = AtomicBool::new(false);

const ABORTED: &[u8] =
    b"error: a library aborted the run; unless a line above says why, memory probably ran out: \
    lower --memory or --threads";
const NO_MEMORY: &[u8] = b"error: out of memory: lower --memory or --threads";
const NO_THREAD: &[u8] =
    b"error: cannot start another thread: there is no memory left for it; lower \
    --threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)";

/// Makes an abort by a library call `clean_up`, print a line, and end the process with code 1. `clean_up` has the
/// requirements of [`Allocator::new`](crate::Allocator::new). If SIGABRT is ignored, it stays ignored, and an abort
/// cleans up nothing.
///
/// # Errors
/// If the system rejects the handler.
pub fn end_well_on_abort(clean_up: fn()) -> io::Result<()> {
    let aborted = move || {
        clean_up();
        if PANICKED.load(Ordering::Acquire) {
            // Ends as it would have without this handler, so that the fault can be debugged.
            let _ = emulate_default_handler(SIGABRT);
        }
        end_without(ABORTED)
    };
    // SAFETY: the handler neither allocates nor takes a lock that the aborting thread may hold: the locks of
    // the list of temporaries are held for a few steps, none of which aborts.
    unsafe {
        if !is_ignored(SIGABRT) {
            register(SIGABRT, aborted)?;
        }
    }
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if let Some(line) = want_of_memory(panic) {
            clean_up();
            end_without(line);
        }
        PANICKED.store(true, Ordering::Release);
        before(panic);
    }));
    Ok(())
}

/// Returns the line for a panic that is caused by lack of memory.
fn want_of_memory(panic: &PanicHookInfo<'_>) -> Option<&'static [u8]> {
    /// The beginnings of such panic messages: of std, before a new thread's own work, where no code can catch them; of
    /// libdeflater and of zstd-safe.
    const PANICS: [(&str, &[u8]); 4] = [
        ("failed to allocate an alternative stack", NO_THREAD),
        ("failed to set up alternative stack guard page", NO_THREAD),
        ("libdeflate_alloc_", NO_MEMORY),
        ("zstd returned null pointer", NO_MEMORY),
    ];
    let text = panic.payload_as_str()?;
    PANICS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, line)| *line)
}
