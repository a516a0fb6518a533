//! Handling of page faults in mapped files.
//!
//! If a mapped file is shortened or its disk fails, some of its pages cannot be read. Accessing one raises SIGBUS,
//! which would kill the process without a message. The handler here names the file, removes temporary files and
//! ends the process with exit code 1. Faults elsewhere are passed to the previous handler, so that they keep their
//! effect.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use merganser_run::end_at_once;
use merganser_run::locks::lock;

use crate::remove_temporaries;

/// The maps of the process, as a linked list. Entries are never freed; they are reused.
static FIRST: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());
/// A lock that is held while entries are changed. The handler only reads them.
static CHANGING: Mutex<()> = Mutex::new(());
/// The previous action for SIGBUS.
static BEFORE: OnceLock<Action> = OnceLock::new();

#[derive(Debug)]
struct Entry {
    /// The first address of the map, or 0 if the entry is free. [`end`](Self::end) is the address after the last; it is
    /// changed only while this is 0.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The message for a fault in this map.
    line: AtomicPtr<Vec<u8>>,
    next: AtomicPtr<Entry>,
}

struct Action(libc::sigaction);

/// A guard: the map is watched until it is dropped.
#[derive(Debug)]
pub(super) struct Watched(&'static Entry);

impl Watched {
    /// Watches the map of a file.
    ///
    /// # Errors
    /// If the signal handler cannot be installed.
    pub(super) fn new(map: &[u8], path: &Path) -> io::Result<Watched> {
        let mut line = b"error: ".to_vec();
        line.extend_from_slice(path.as_os_str().as_bytes());
        line.extend_from_slice(
            b": the file became shorter while it was in use, or its disk cannot be read: run again \
              with an unchanging file",
        );
        let line = Box::into_raw(Box::new(line));
        let _changing = lock(&CHANGING);
        install()?;
        let entry = free_entry();
        let range = map.as_ptr_range();
        entry.line.store(line, Ordering::Release);
        entry.end.store(range.end.addr(), Ordering::Release);
        entry.start.store(range.start.addr(), Ordering::Release);
        Ok(Watched(entry))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _changing = lock(&CHANGING);
        self.0.start.store(0, Ordering::Release);
        self.0.end.store(0, Ordering::Release);
        let line = self.0.line.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the pointer came from a box in `new`, and only this code frees it. The handler uses it only while
        // a thread accesses the map, which still exists, because its owner drops this guard first.
        drop(unsafe { Box::from_raw(line) });
    }
}

/// Returns an unused entry. The caller must hold the lock.
fn free_entry() -> &'static Entry {
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: entries are leaked boxes, so they are never freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        if entry.start.load(Ordering::Acquire) == 0 {
            return entry;
        }
        next = entry.next.load(Ordering::Acquire);
    }
    let entry = Box::leak(Box::new(Entry {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        line: AtomicPtr::default(),
        next: AtomicPtr::new(FIRST.load(Ordering::Acquire)),
    }));
    FIRST.store(entry, Ordering::Release);
    entry
}

/// Installs the signal handler, once.
fn install() -> io::Result<()> {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    if INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: all zeros is a valid action: the default, with no flags and no blocked signals.
    let (mut ours, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    ours.sa_sigaction = handler as libc::sighandler_t;
    // Run on the alternate signal stack of the thread.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both pointers are valid, and the handler has the type that SA_SIGINFO requires.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // This must be set before the handler can be called.
    let _ = BEFORE.set(Action(before));
    // SAFETY: as above.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    INSTALLED.store(true, Ordering::Release);
    Ok(())
}

/// Returns the message for a fault at an address.
fn line_of(address: usize) -> Option<&'static [u8]> {
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: entries are leaked boxes, so they are never freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        let (start, end) = (entry.start.load(Ordering::Acquire), entry.end.load(Ordering::Acquire));
        // Another thread may be replacing the map of this entry. `end` is changed only while `start` is 0, so a thread
        // that sees the next `end` sees a different `start` from then on.
        let unchanged = || entry.start.load(Ordering::Acquire) == start;
        if (start..end).contains(&address) && unchanged() {
            // SAFETY: the message is set before the range, and freed only when no thread can access the map. The
            // interrupted thread is accessing it now.
            return unsafe { entry.line.load(Ordering::Acquire).as_ref() }.map(Vec::as_slice);
        }
        next = entry.next.load(Ordering::Acquire);
    }
    None
}

/// The signal handler. A fault within one of the maps is raised by a plain read of it, so the thread holds no lock
/// and is not in the allocator. Nevertheless the handler makes only a few system calls and allocates no memory.
extern "C" fn handle(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the system passes a valid pointer. A signal sent by a process has no address; the
    // bytes there are not an address in a map, unless a process sends a forged one.
    let (address, code) = unsafe { ((*info).si_addr().addr(), (*info).si_code) };
    if code > 0
        && let Some(line) = line_of(address)
    {
        remove_temporaries();
        end_at_once(1, line);
    }
    let Some(Action(before)) = BEFORE.get() else { return };
    // SAFETY: the action is the one returned by the system, and both functions are safe to call in a signal handler.
    unsafe {
        libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut());
        libc::raise(libc::SIGBUS);
    }
}
