//! The list of files and directories that have a name on disk and must not outlive the run: unfinished outputs, and
//! directories created for temporary files.
//!
//! Each is normally removed when its owner is dropped. The list serves a process that ends without dropping them,
//! at the second Ctrl-C or when memory runs out. That end must neither allocate nor wait for a thread that does.
//! Therefore entries are linked to each other, and are created and dropped outside of the lock.

use merganser_run::locks::lock;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

static LIST: Mutex<List> =
    Mutex::new(List { first: None, next_number: 0, closed: false, appearing: 0, appeared: false });

/// The time for which the end of the process waits for outputs that are appearing. It is limited because the thread
/// that makes them appear may be the one that ends the process.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct List {
    /// The most recent entry.
    first: Option<Box<Entry>>,
    next_number: u64,
    /// Whether the process is ending, so that nothing more may be created.
    closed: bool,
    /// The number of sets of outputs that are appearing.
    appearing: usize,
    /// Whether a set of outputs has appeared.
    appeared: bool,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    path: CString,
    kind: Kind,
    next: Option<Box<Entry>>,
}

#[derive(Debug)]
enum Kind {
    File,
    Directory,
    /// A directory that other runs may also use, with its mark file.
    Marked(CString),
}

impl Entry {
    /// Removes the entry from disk without allocating.
    fn remove(&self) {
        let _ = match &self.kind {
            Kind::File => rustix::fs::unlink(&*self.path),
            Kind::Directory => rustix::fs::rmdir(&*self.path),
            Kind::Marked(mark) => {
                let there = rustix::fs::unlink(&**mark);
                rustix::fs::rmdir(&*self.path).or_else(|_| there.and_then(|()| put_back(mark)))
            }
        };
    }
}

/// Creates the mark of a directory again, because another run uses the directory.
fn put_back(mark: &CStr) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(mark, flags, Mode::from_raw_mode(0o644)).map(drop)
}

/// A name in the list. It is taken off the list when this value is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Listed(u64);

impl Listed {
    /// Lists a file that is about to be created.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(crate) fn file(path: &Path) -> io::Result<Listed> {
        Listed::new(path, Kind::File)
    }

    /// Lists a directory that is about to be created. It is kept if it is not empty when the process ends.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(crate) fn directory(path: &Path) -> io::Result<Listed> {
        Listed::new(path, Kind::Directory)
    }

    /// Lists a directory that runs create and share, and the mark in it.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(crate) fn made_directory(path: &Path, mark: &Path) -> io::Result<Listed> {
        Listed::new(path, Kind::Marked(CString::new(mark.as_os_str().as_bytes())?))
    }

    fn new(path: &Path, kind: Kind) -> io::Result<Listed> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mut entry = Box::new(Entry { number: 0, path, kind, next: None });
        let mut list = list();
        if list.closed {
            drop(list);
            return Err(io::Error::other("interrupted"));
        }
        let number = list.next_number;
        list.next_number += 1;
        (entry.number, entry.next) = (number, list.first.take());
        list.first = Some(entry);
        Ok(Listed(number))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut list = list();
        let mut place = &mut list.first;
        while place.as_ref().is_some_and(|entry| entry.number != self.0) {
            let Some(entry) = place else { break };
            place = &mut entry.next;
        }
        let mut own = place.take();
        if let Some(entry) = &mut own {
            *place = entry.next.take();
        }
        drop(list);
        drop(own);
    }
}

/// A guard for a set of outputs that is appearing: while it exists, the process does not end between two renames.
#[derive(Debug)]
#[must_use]
pub(super) struct Appearing(());

impl Appearing {
    /// Marks the beginning of the first rename.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(super) fn begin() -> io::Result<Appearing> {
        let mut list = list();
        if list.closed {
            drop(list);
            return Err(io::Error::other("interrupted"));
        }
        list.appearing += 1;
        Ok(Appearing(()))
    }

    /// Marks that all outputs have appeared.
    pub(super) fn done(self) {
        list().appeared = true;
    }
}

impl Drop for Appearing {
    fn drop(&mut self) {
        list().appearing -= 1;
    }
}

/// Whether outputs of this process have appeared under their names.
pub fn outputs_have_appeared() -> bool {
    list().appeared
}

/// Removes the named temporary files and directories of this process, and prevents further ones and further
/// outputs. It is called by a process that must end at once. A set of outputs that is appearing may finish first,
/// unless that takes too long. It does not allocate, and does not wait without limit for a thread that does.
pub fn remove_temporaries() {
    list().closed = true;
    let step = Duration::from_millis(1);
    let mut steps = PATIENCE.as_millis() / step.as_millis();
    while list().appearing > 0 && steps > 0 {
        thread::sleep(step);
        steps -= 1;
    }
    let list = list();
    let mut next = &list.first;
    // Most recent first, so that directories are empty and inner ones are removed before outer ones.
    while let Some(entry) = next {
        entry.remove();
        next = &entry.next;
    }
}

fn list() -> MutexGuard<'static, List> {
    lock(&LIST)
}
