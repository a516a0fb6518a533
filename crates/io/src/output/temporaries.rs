//! What has a name on disk and must not outlive the run: files that are no outputs yet, and
//! directories that were made for temporary files.
//!
//! Whoever made it removes it when it goes away. This list is for a process that ends without that,
//! at the second Ctrl-C or where memory is out: its end must neither allocate nor wait for one who
//! does. So entries are linked to each other, and are made and dropped outside of the lock.

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

/// So long the end of the process waits for outputs that are appearing: who makes them appear may be the
/// one who ends it.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct List {
    /// The one that was made last.
    first: Option<Box<Entry>>,
    next_number: u64,
    /// The process ends: nothing more may be made.
    closed: bool,
    /// How many sets of outputs are getting their names.
    appearing: usize,
    /// Whether one has got them.
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
    /// One that may be used by other runs, too, with the file that says so.
    Marked(CString),
}

impl Entry {
    /// Allocates nothing.
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

/// Makes the mark of a directory once more, which another run uses.
fn put_back(mark: &CStr) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(mark, flags, Mode::from_raw_mode(0o644)).map(drop)
}

/// A name in the list, as long as this lives.
#[derive(Debug)]
#[must_use]
pub(crate) struct Listed(u64);

impl Listed {
    /// Lists a file that is about to be made.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(crate) fn file(path: &Path) -> io::Result<Listed> {
        Listed::new(path, Kind::File)
    }

    /// Lists a directory that is about to be made; should others have put something there when the
    /// process ends, it stays.
    ///
    /// # Errors
    /// If the process is about to end.
    pub(crate) fn directory(path: &Path) -> io::Result<Listed> {
        Listed::new(path, Kind::Directory)
    }

    /// Lists a directory that runs make for themselves and for each other, and the mark in it.
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

/// A set of outputs that is getting its names: while this lives, the process does not end between two of
/// them.
#[derive(Debug)]
#[must_use]
pub(super) struct Appearing(());

impl Appearing {
    /// Before the first name.
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

    /// All have their names.
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

/// Removes the temporary files and directories of this process that have a name, and lets no more be
/// made, nor outputs appear: for a process that is to end at once. Of a set of outputs that is appearing
/// all do first, unless that takes long. Does not allocate, nor wait for ever for who does.
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
    // The last one first, so that directories are empty and inner ones gone before outer ones.
    while let Some(entry) = next {
        entry.remove();
        next = &entry.next;
    }
}

fn list() -> MutexGuard<'static, List> {
    lock(&LIST)
}
