//! What has a name on disk and must not outlive the run: files that are no outputs yet, and
//! directories that were made for temporary files.
//!
//! Whoever made it removes it when it goes away. This list is for a process that ends without that,
//! at the second Ctrl-C or where memory is out: its end must neither allocate nor wait for one who
//! does. So entries are linked to each other, and are made and dropped outside of the lock.

use super::named::PREFIX;
use crate::Error;
use crate::error::{reason, without_name};
use merganser_run::locks::lock;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

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

#[derive(Clone, Copy, Debug)]
enum Kind {
    File,
    Directory,
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

/// Directories that were made for temporary files, the outermost first. They go with this, unless
/// somebody else has put something there.
#[derive(Debug, Default)]
pub struct MadeDirectories(Vec<(PathBuf, Listed)>);

impl MadeDirectories {
    /// Makes a directory and those above it, as far as they are missing.
    ///
    /// # Errors
    /// If one cannot be made; those that were are gone again.
    pub fn ensure(directory: &Path) -> io::Result<MadeDirectories> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<&Path> = directory.ancestors().take_while(missing).collect();
        let mut made = MadeDirectories::default();
        for path in missing.into_iter().rev() {
            let listed = Listed::directory(path)?;
            match fs::create_dir(path) {
                Ok(()) => made.0.push((path.to_owned(), listed)),
                // Another run may make the same directory at the same time.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        while let Some((path, _listed)) = self.0.pop() {
            if fs::remove_dir(path).is_err() {
                return;
            }
        }
    }
}

/// A folder for intermediate files that must have names, as those who read them open them again. All goes
/// with this, and with the process, unless that is killed.
#[derive(Debug)]
pub struct TemporaryFolder {
    // Removed before the list forgets any of it.
    folder: TempDir,
    files: Mutex<Vec<(PathBuf, Listed)>>,
    _listed: Listed,
    _made: MadeDirectories,
}

impl TemporaryFolder {
    /// Makes one in a directory, which is made if it is missing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_in(directory: &Path) -> Result<TemporaryFolder, Error> {
        let failed = |error| {
            let reason = reason(&without_name(error));
            Error::TemporaryDirectory { dir: directory.to_owned(), reason }
        };
        let made = MadeDirectories::ensure(directory).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(directory);
        let folder = folder.map_err(failed)?;
        let listed = Listed::directory(folder.path()).map_err(failed)?;
        Ok(TemporaryFolder { folder, files: Mutex::default(), _listed: listed, _made: made })
    }

    /// The path for a file of this name.
    ///
    /// # Errors
    /// If the process is about to end.
    pub fn file(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.folder.path().join(name);
        let mut files = lock(&self.files);
        if !files.iter().any(|(known, _)| *known == path) {
            let failed = |cause| Error::Write { path: path.clone(), cause: Arc::new(cause) };
            let listed = Listed::file(&path).map_err(failed)?;
            files.push((path.clone(), listed));
        }
        Ok(path)
    }
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
        let _ = match entry.kind {
            Kind::File => rustix::fs::unlink(&*entry.path),
            Kind::Directory => rustix::fs::rmdir(&*entry.path),
        };
        next = &entry.next;
    }
}

fn list() -> MutexGuard<'static, List> {
    lock(&LIST)
}
