//! Ends that libraries bring about: nothing is left behind then either.
//!
//! Where memory is missing, the standard library asks the system for it at a few places, past the
//! program's allocator, and aborts: for a thread's own record, and for the stack on which a new thread
//! would handle the overflow of its first one. So does the C library, for what is to be done when a
//! thread ends.
#![allow(unsafe_code, reason = "what a signal's handler does must be fit for it")]

use std::io;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{emulate_default_handler, register};

use crate::end::end_without;

/// A panic was said: what comes of it is a fault of the program.
static PANICKED: AtomicBool = AtomicBool::new(false);

const ABORTED: &[u8] =
    b"error: a library has ended the run, most likely for want of memory: lower \
    --memory or --threads";
const NO_THREAD: &[u8] =
    b"error: cannot start another thread: there is no memory left for it; lower \
    --threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)";

/// Has the process call `clean_up` when a library aborts it, and end with 1 and a line. `clean_up` is as
/// that of [`Allocator`](crate::Allocator).
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
    unsafe { register(SIGABRT, aborted) }?;
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if is_before_the_thread(panic) {
            clean_up();
            end_without(NO_THREAD);
        }
        PANICKED.store(true, Ordering::Release);
        before(panic);
    }));
    Ok(())
}

/// Whether a new thread has panicked before its own work began, which nobody can catch.
fn is_before_the_thread(panic: &PanicHookInfo<'_>) -> bool {
    let text = panic.payload_as_str().unwrap_or_default();
    text.starts_with("failed to allocate an alternative stack")
        || text.starts_with("failed to set up alternative stack guard page")
}
