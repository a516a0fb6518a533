//! Ends that libraries bring about: nothing is left behind then either.
//!
//! Where memory is missing, the standard library asks the system for it at a few places, past the
//! program's allocator, and aborts: for a thread's own record, and for the stack on which a new thread
//! would handle the overflow of its first one. So does the C library, for what is to be done when a
//! thread ends. Others panic, although it is no fault of the program.
#![allow(unsafe_code, reason = "what a signal's handler does must be fit for it")]

use std::io;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{emulate_default_handler, register};

use crate::end::end_without;
use crate::signals::is_ignored;

/// A panic was said: what comes of it is a fault of the program.
static PANICKED: AtomicBool = AtomicBool::new(false);

const ABORTED: &[u8] =
    b"error: a library has ended the run, most likely for want of memory: lower \
    --memory or --threads";
const NO_MEMORY: &[u8] = b"error: out of memory: lower --memory or --threads";
const NO_THREAD: &[u8] =
    b"error: cannot start another thread: there is no memory left for it; lower \
    --threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)";

/// Has the process call `clean_up` when a library aborts it, and end with 1 and a line. `clean_up` is as
/// that of [`Allocator`](crate::Allocator). Where SIGABRT is ignored, it stays ignored, and an abort cleans up nothing.
///
/// # Errors
/// If the system refuses the handler.
pub fn end_well_on_abort(clean_up: fn()) -> io::Result<()> {
    let aborted = move || {
        clean_up();
        if PANICKED.load(Ordering::Acquire) {
            // As it would have ended without this, for who looks for the fault.
            let _ = emulate_default_handler(SIGABRT);
        }
        end_without(ABORTED)
    };
    // SAFETY: the handler neither allocates nor takes a lock that the aborting thread may hold: those of
    // the list of temporaries hold it for a few steps, none of which aborts.
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

/// What to say of a panic that is for want of memory, whose libraries know no other way.
fn want_of_memory(panic: &PanicHookInfo<'_>) -> Option<&'static [u8]> {
    /// How their messages begin: std's, before a new thread's own work, which nobody can catch; those of
    /// libdeflater and zstd-safe.
    const PANICS: [(&str, &[u8]); 4] = [
        ("failed to allocate an alternative stack", NO_THREAD),
        ("failed to set up alternative stack guard page", NO_THREAD),
        ("libdeflate_alloc_", NO_MEMORY),
        ("zstd returned null pointer", NO_MEMORY),
    ];
    let text = panic.payload_as_str()?;
    PANICS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, line)| *line)
}
