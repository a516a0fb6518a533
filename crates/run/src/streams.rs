//! The standard streams as the process was given them.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of each of the first three descriptors that is
//! closed, so that no file gets its number. From then on `>&-` looks like `>/dev/null`: results would be lost without a
//! word, and `<&-` would be an empty input. Neither the flags of the descriptor nor the file tell the two apart
//! afterwards: the standard library opens it for reading and writing, and so do daemons and Python's
//! `subprocess.DEVNULL`. Therefore a function of this module looks at the descriptors first. It is listed among the
//! constructors of the executable (`.init_array` of ELF), which the C library calls before the entry point that calls
//! the standard library.
#![allow(
    unsafe_code,
    reason = "runs before the standard library, and asks about descriptors by number"
)]

use std::sync::atomic::{AtomicU8, Ordering};

/// The bit `1 << N` is set if descriptor N was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Whether descriptor 0, 1 or 2 was closed when the process started. What is open under that number by now is another
/// matter.
pub fn was_closed_at_start(descriptor: i32) -> bool {
    (0..3).contains(&descriptor) && CLOSED.load(Ordering::Relaxed) & 1 << descriptor != 0
}

#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

/// Uses nothing of the standard library that must be set up first, and does not allocate.
extern "C" fn look() {
    for descriptor in 0..3 {
        // SAFETY: asks for the flags of a number, which need not be that of an open descriptor.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}
