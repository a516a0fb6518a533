//! The state of the standard streams at the start of the process.
//!
//! Before `main`, the standard library opens `/dev/null` in place of each of the first three descriptors that is
//! closed, so that no file gets its number. From then on `>&-` looks like `>/dev/null`: results would be lost
//! silently, and `<&-` would be an empty input. Afterwards neither the flags of the descriptor nor the file
//! distinguish the two: the standard library opens it for reading and writing, and so do daemons and Python's
//! `subprocess.DEVNULL`. Therefore a function of this module examines the descriptors first. It is one of the
//! constructors of the executable (`.init_array` of ELF), which the C library calls before the entry point that calls
//! the standard library.
#![allow(
    unsafe_code,
    reason = "runs before the standard library, and queries descriptors by number"
)]

use std::sync::atomic::{AtomicU8, Ordering};

/// The bit `1 << N` is set if descriptor N was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Returns whether descriptor 0, 1 or 2 was closed when the process started; it may have been opened since.
pub fn was_closed_at_start(descriptor: i32) -> bool {
    (0..3).contains(&descriptor) && CLOSED.load(Ordering::Relaxed) & 1 << descriptor != 0
}

#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

/// Records which descriptors are closed. Uses nothing of the standard library that needs setup, and does not allocate.
extern "C" fn look() {
    for descriptor in 0..3 {
        // SAFETY: queries the flags of a number, which need not be an open descriptor.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}
