//! Directories that are made for temporary files.
//!
//! Several runs may be given the same directory, and whichever comes first makes it. So that the last one removes it,
//! and none a directory that was there before, those that are made hold a mark.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::named::PREFIX;
use super::temporaries::Listed;

/// An empty file in directories that were made for temporary files.
const MARK: &str = ".merganser-made";

/// Runs that begin or end in the moments between two steps, one after the other.
const MAX: usize = 20;

/// A directory for temporary files. It goes with this if a run of this program made it, and those above it too, unless
/// another run uses them or somebody else has put something there.
#[derive(Debug, Default)]
pub struct MadeDirectories {
    directory: PathBuf,
    _listed: Vec<Listed>,
}

impl MadeDirectories {
    /// Makes a directory and those above it, as far as they are missing.
    ///
    /// # Errors
    /// If one cannot be made; those that were are gone again.
    pub fn ensure(directory: &Path) -> io::Result<MadeDirectories> {
        again_if_gone(|| MadeDirectories::ensure_once(directory))
    }

    fn ensure_once(directory: &Path) -> io::Result<MadeDirectories> {
        let mut made = MadeDirectories { directory: directory.to_owned(), _listed: Vec::new() };
        let above: Vec<&Path> = steps(directory).collect();
        for path in above.into_iter().rev() {
            made.ensure_one(path)?;
        }
        Ok(made)
    }

    /// Makes a directory if it is missing, and lists it if it has a mark: it may be for this process to remove.
    fn ensure_one(&mut self, path: &Path) -> io::Result<()> {
        let mark = path.join(MARK);
        if !path.exists() {
            let listed = Listed::made_directory(path, &mark)?;
            match fs::create_dir(path).and_then(|()| File::create(&mark)) {
                Ok(_) => self._listed.push(listed),
                // Another run may make the same directory at the same time.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let _ = fs::remove_dir(path);
                    return Err(error);
                }
            }
        } else if mark.exists() {
            self._listed.push(Listed::made_directory(path, &mark)?);
        }
        Ok(())
    }

    /// Makes the directory, and calls `make`, which makes something in it.
    ///
    /// # Errors
    /// As [`ensure`](Self::ensure) and `make`.
    pub(crate) fn ensure_with<T>(
        directory: &Path,
        mut make: impl FnMut() -> io::Result<T>,
    ) -> io::Result<(T, MadeDirectories)> {
        again_if_gone(|| {
            // What was made goes again if the rest cannot be.
            let made = MadeDirectories::ensure_once(directory)?;
            Ok((make()?, made))
        })
    }
}

/// Calls `make`, and calls it again should another run, which was the last one so far, remove a directory in the meantime.
fn again_if_gone<T>(mut make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..MAX {
        match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    make()
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        // All, as `a/..` is above `a/../b`, too.
        steps(&self.directory).for_each(remove);
    }
}

/// A directory and those above it, the innermost first.
fn steps(directory: &Path) -> impl Iterator<Item = &Path> {
    directory.ancestors().take_while(|path| !path.as_os_str().is_empty())
}

/// Removes a directory that has a mark and is not used any more.
fn remove(path: &Path) {
    // A run that comes in the meantime, and goes while there is no mark, leaves it to this one. A directory that cannot be
    // removed stays.
    let _ = (0..MAX).find(|_| try_to_remove(path) == Removed::Done);
}

#[derive(PartialEq, Eq)]
enum Removed {
    /// Or left to others.
    Done,
    /// A run came while there was no mark.
    InUse,
}

fn try_to_remove(path: &Path) -> Removed {
    let mark = path.join(MARK);
    if !mark.exists() {
        return Removed::Done;
    }
    let Ok(entries) = fs::read_dir(path) else { return Removed::Done };
    let others: Vec<_> =
        entries.flatten().filter(|entry| entry.file_name().as_bytes() != MARK.as_bytes()).collect();
    if others.iter().any(belongs_to_runs) {
        return Removed::Done;
    }
    let _ = fs::remove_file(&mark);
    if !others.is_empty() || fs::remove_dir(path).is_ok() || File::create(&mark).is_err() {
        return Removed::Done;
    }
    Removed::InUse
}

/// Whether runs of this program made an entry of a directory: it is a temporary file, has the mark, or holds only entries
/// that runs made. A directory has no mark in the moments before a run removes it and after one makes it; it may be gone
/// by now.
fn belongs_to_runs(entry: &fs::DirEntry) -> bool {
    let (name, path) = (entry.file_name(), entry.path());
    name.as_bytes().starts_with(PREFIX.as_bytes())
        || path.join(MARK).exists()
        || match fs::read_dir(&path) {
            Ok(entries) if !path.is_symlink() => {
                entries.flatten().all(|entry| belongs_to_runs(&entry))
            }
            Ok(_) => false,
            Err(error) => error.kind() == io::ErrorKind::NotFound && !path.is_symlink(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_removes_what_the_first_one_made() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/b");
        let [first, second] = [(); 2].map(|()| MadeDirectories::ensure(&dir).unwrap());
        fs::create_dir(dir.join(".merganser-of-the-second")).unwrap();
        drop(first);
        assert!(dir.exists());
        fs::remove_dir(dir.join(".merganser-of-the-second")).unwrap();
        drop(second);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_others_have_stays() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/b");
        let made = MadeDirectories::ensure(&dir).unwrap();
        fs::write(dir.join("precious"), "").unwrap();
        drop(made);
        let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|at| at.unwrap().file_name()).collect();
        assert_eq!(names, ["precious"]);
        drop(MadeDirectories::ensure(&dir).unwrap());
        assert!(dir.exists());
    }

    #[test]
    fn a_directory_without_its_mark_may_be_about_to_go() {
        let parent = tempfile::tempdir().unwrap();
        let above = parent.path().join("a");
        let made = MadeDirectories::ensure(&above.join("b")).unwrap();
        // Another run removes the inner one, and has removed its mark, when this one ends.
        fs::remove_file(above.join("b").join(MARK)).unwrap();
        drop(made);
        assert!(above.join(MARK).exists());
        fs::remove_dir(above.join("b")).unwrap();
        remove(&above);
        assert!(!above.exists());
    }

    #[test]
    fn a_directory_that_goes_in_the_meantime_is_made_again() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a");
        let mut first = true;
        let make = || {
            if std::mem::take(&mut first) {
                remove(&dir);
                assert!(!dir.exists());
            }
            fs::create_dir(dir.join("x"))
        };
        let (_, made) = MadeDirectories::ensure_with(&dir, make).unwrap();
        fs::remove_dir(dir.join("x")).unwrap();
        drop(made);
        assert!(!dir.exists());
    }
}
