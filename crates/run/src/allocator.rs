//! The program's allocator: the system's, and an orderly end where it has no more memory.
//!
//! The standard library aborts where an allocation fails, and leaves behind what has a name on disk.
//! Here the process ends as after any other error: what it would leave is removed, a line says why,
//! and the exit code is 1. It cannot go on: hardly any code is written to do without the memory it
//! asked for. What is, asks within [`may_fail`].
#![allow(unsafe_code, reason = "an allocator cannot be made without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::end::end_without;
use crate::memory::address_space_limit;

thread_local! {
    /// Whoever asks can do without. Constant and without a destructor: the thread's own memory holds
    /// it, and looking at it allocates nothing.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs what copes with memory that is not given, such as `Vec::try_reserve`.
pub fn may_fail<T>(allocate: impl FnOnce() -> T) -> T {
    /// Also after a panic.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            MAY_FAIL.set(self.0);
        }
    }
    let _before = Before(MAY_FAIL.replace(true));
    allocate()
}

/// Gives the system back what was freed and is still held: before a stage that needs memory of other sizes than the one
/// before it. Does nothing where the system's allocator cannot.
pub fn give_back_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only looks at what is free, and may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The system's allocator, to be the program's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator {
    clean_up: fn(),
}

impl Allocator {
    /// An allocator that calls `clean_up` before it ends the process, which must not allocate, panic,
    /// nor wait for a thread that may.
    pub const fn new(clean_up: fn()) -> Allocator {
        Allocator { clean_up }
    }

    /// Passes on what the system gave for `size` bytes.
    #[inline(always)]
    fn given(&self, at: *mut u8, size: usize) -> *mut u8 {
        if at.is_null() && !MAY_FAIL.get() {
            self.end(size);
        }
        at
    }

    /// Ends the process, as `size` bytes were not given. Nothing here allocates.
    #[cold]
    #[inline(never)]
    fn end(&self, size: usize) -> ! {
        static ENDING: AtomicBool = AtomicBool::new(false);
        if ENDING.swap(true, Ordering::AcqRel) {
            // Another thread is about to end all.
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        (self.clean_up)();
        let mut line = [0; 256];
        let mut to = Cursor::new(&mut line[..]);
        // A line that is too long is cut.
        let _ = write!(to, "error: out of memory: {size} bytes more could not be had");
        let _ = match address_space_limit() {
            Some(limit) => write!(
                to,
                ", and the limit (ulimit -v) is {} KiB: lower --memory or --threads, or raise it",
                limit >> 10
            ),
            None => write!(to, ": lower --memory or --threads"),
        };
        let length = to.position() as usize;
        end_without(&line[..length])
    }
}

// SAFETY: every call is passed on to the system's allocator as it is, and what that gives is given;
// nothing unwinds, as ending the process does not return.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        let at = unsafe { System.alloc(layout) };
        self.given(at, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let at = unsafe { System.alloc_zeroed(layout) };
        self.given(at, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let at = unsafe { System.realloc(old, layout, size) };
        self.given(at, size)
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Where address space is limited, has the threads share heaps: of itself, glibc's allocator sets 64
/// MiB of addresses aside for each thread, memory that is counted and never used. To be called before
/// threads are started.
pub fn share_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(limit) = address_space_limit() {
        const HEAP: u64 = 64 << 20;
        let heaps = (limit / 8 / HEAP).clamp(1, 1024) as libc::c_int;
        // SAFETY: it sets a number of the allocator; its own lock guards it.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, heaps) };
    }
}

#[cfg(test)]
mod tests {
    use super::may_fail;

    #[test]
    fn what_may_fail_fails() {
        assert!(may_fail(|| Vec::<u8>::new().try_reserve_exact(1 << 60)).is_err());
        assert!(may_fail(|| Vec::<u8>::new().try_reserve_exact(1 << 10)).is_ok());
    }
}
