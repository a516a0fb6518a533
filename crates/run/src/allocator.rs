//! The program's allocator: the system's allocator, with an orderly end of the process if memory runs out.
//!
//! The standard library aborts if an allocation fails, and leaves files behind. This allocator ends the process
//! as after any other error: temporary files are removed, a line gives the reason,
//! and the exit code is 1. The process cannot continue, because hardly any code handles failed
//! allocations. Code that does allocates within [`may_fail`].
#![allow(unsafe_code, reason = "implements an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, Write};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::end::end_without;
use crate::memory::address_space_limit;

thread_local! {
    /// Whether the running code handles failed allocations. Constant and without a destructor, so that it is in the
    /// thread's static memory, and reading it allocates nothing.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that handles failed allocations, such as `Vec::try_reserve`.
pub fn may_fail<T>(allocate: impl FnOnce() -> T) -> T {
    /// Restores the previous value, also after a panic.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            MAY_FAIL.set(self.0);
        }
    }
    let _before = Before(MAY_FAIL.replace(true));
    allocate()
}

/// Returns freed memory that the allocator still holds to the system, before a stage whose allocations have other
/// sizes than those before. Does nothing if the system's allocator cannot.
pub fn give_back_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only examines free memory, and any thread may call it at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks the system to back `memory` with huge pages where it covers them. It never changes a result, and does nothing
/// if the system has none.
pub fn prefer_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        let skipped = start.align_offset(HUGE).min(bytes);
        // SAFETY: the pages belong to `memory`, and the advice does not change their contents.
        unsafe {
            libc::madvise(
                start.add(skipped).cast(),
                (bytes - skipped) / HUGE * HUGE,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// The system's allocator, for the program's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator {
    clean_up: fn(),
}

impl Allocator {
    /// Creates an allocator that calls `clean_up` before it ends the process. `clean_up` must not allocate, panic,
    /// or wait for a thread that may.
    pub const fn new(clean_up: fn()) -> Allocator {
        Allocator { clean_up }
    }

    /// Returns the result of an allocation of `size` bytes, unless it has failed and must not.
    #[inline(always)]
    fn given(&self, at: *mut u8, size: usize) -> *mut u8 {
        if at.is_null() && !MAY_FAIL.get() {
            self.end(size);
        }
        at
    }

    /// Ends the process because `size` bytes could not be allocated. Allocates nothing.
    #[cold]
    #[inline(never)]
    fn end(&self, size: usize) -> ! {
        static ENDING: AtomicBool = AtomicBool::new(false);
        if ENDING.swap(true, Ordering::AcqRel) {
            // Another thread is ending the process.
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        (self.clean_up)();
        let mut line = [0; 256];
        let mut to = Cursor::new(&mut line[..]);
        // The line is cut if it is too long.
        let _ = write!(to, "error: out of memory: cannot allocate {size} more bytes");
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

// SAFETY: every call is passed to the system's allocator unchanged, and its result is returned;
// nothing unwinds, since ending the process does not return.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees are those that `System` requires.
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

/// Limits the number of heaps of glibc's allocator if the address space is limited: by default it reserves 64
/// MiB of addresses for each thread, which count towards the limit and are not used. Must be called before
/// threads are started.
pub fn share_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(limit) = address_space_limit() {
        const HEAP: u64 = 64 << 20;
        let heaps = (limit / 8 / HEAP).clamp(1, 1024) as libc::c_int;
        // SAFETY: it sets a parameter of the allocator, which the allocator's own lock guards.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, heaps) };
    }
}

#[cfg(test)]
mod tests {
    use super::{may_fail, prefer_huge_pages};

    #[test]
    fn memory_may_be_shorter_than_a_huge_page() {
        for bytes in [0, 1, 4096, 5 << 20] {
            let mut memory = Vec::<u8>::with_capacity(bytes);
            prefer_huge_pages(&mut memory.spare_capacity_mut()[..bytes]);
            memory.resize(bytes, 7);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn what_may_fail_fails() {
        assert!(may_fail(|| Vec::<u8>::new().try_reserve_exact(1 << 60)).is_err());
        assert!(may_fail(|| Vec::<u8>::new().try_reserve_exact(1 << 10)).is_ok());
    }
}
