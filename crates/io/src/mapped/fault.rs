//! Mapped files that end before their map does.
//!
//! A file that somebody shortens, or whose disk fails, has pages that cannot be read: whoever looks at
//! one gets SIGBUS, which would kill the process without a word. Here it says which file it was,
//! removes temporary files and ends with exit code 1. Faults elsewhere go to the handler that was
//! there before, and so have the effect that they had.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use merganser_run::end_at_once;
use merganser_run::locks::lock;

use crate::remove_temporaries;

/// The maps of the process, each linked to the next: entries are never freed, but used again.
static FIRST: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());
/// Held by those who change entries; the handler only reads them.
static CHANGING: Mutex<()> = Mutex::new(());
/// The action of SIGBUS before ours.
static BEFORE: OnceLock<Action> = OnceLock::new();

#[derive(Debug)]
struct Entry {
    /// The first address, 0 if the entry is free, and the one behind the last.
    start: AtomicUsize,
    end: AtomicUsize,
    /// What to say.
    line: AtomicPtr<Vec<u8>>,
    next: AtomicPtr<Entry>,
}

struct Action(libc::sigaction);

/// A map, watched as long as this lives.
#[derive(Debug)]
pub(super) struct Watched(&'static Entry);

impl Watched {
    /// Watches the map of a file.
    ///
    /// # Errors
    /// If signals cannot be handled.
    pub(super) fn new(map: &[u8], path: &Path) -> io::Result<Watched> {
        let mut line = b"error: ".to_vec();
        line.extend_from_slice(path.as_os_str().as_bytes());
        line.extend_from_slice(
            b": the file became shorter while it was in use, or its disk cannot be read: run again \
              with one that stays",
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
        self.0.end.store(0, Ordering::Release);
        self.0.start.store(0, Ordering::Release);
        let line = self.0.line.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: it was made from a box in `new`, and this is the only place that frees it. The
        // handler looks at it only while a thread is within the map, which is still there, and whose
        // owner drops this.
        drop(unsafe { Box::from_raw(line) });
    }
}

/// An entry that nobody uses; the caller holds the lock.
fn free_entry() -> &'static Entry {
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: entries are leaked boxes, and so stay.
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

/// Puts our handler in place, once.
fn install() -> io::Result<()> {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    if INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: zeros are a valid action: the default, no flags, no signals blocked.
    let (mut ours, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    ours.sa_sigaction = handler as libc::sighandler_t;
    // On the stack that threads have for signals.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both point to actions, and the handler has the type that SA_SIGINFO asks for.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Before the handler can be called.
    let _ = BEFORE.set(Action(before));
    // SAFETY: as above.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    INSTALLED.store(true, Ordering::Release);
    Ok(())
}

/// What to say of a fault at an address.
fn line_of(address: usize) -> Option<&'static [u8]> {
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: entries are leaked boxes, and so stay.
    while let Some(entry) = unsafe { next.as_ref() } {
        let (start, end) = (entry.start.load(Ordering::Acquire), entry.end.load(Ordering::Acquire));
        if (start..end).contains(&address) {
            // SAFETY: set before the range, and freed only when nobody is within the map any more;
            // but the thread that we interrupt is.
            return unsafe { entry.line.load(Ordering::Acquire).as_ref() }.map(Vec::as_slice);
        }
        next = entry.next.load(Ordering::Acquire);
    }
    None
}

/// The handler. A fault within one of our maps was raised by a plain read of it: the thread then holds
/// no lock and is not within the allocator, so that more could be done here than in other handlers; no
/// more is done than a system call or two, without memory being taken.
extern "C" fn handle(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the system gives a handler with SA_SIGINFO a valid pointer; a signal that a process
    // sent has no address, and what stands there is none of a map, or looks like it by malice.
    let (address, code) = unsafe { ((*info).si_addr().addr(), (*info).si_code) };
    if code > 0
        && let Some(line) = line_of(address)
    {
        remove_temporaries();
        end_at_once(1, line);
    }
    let Some(Action(before)) = BEFORE.get() else { return };
    // SAFETY: the action is the one that the system gave; both functions may be called in handlers.
    unsafe {
        libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut());
        libc::raise(libc::SIGBUS);
    }
}
