//! Creation and removal of directories for temporary files.
//!
//! Several runs may use the same directory, and the first of them creates it. Created directories contain a mark,
//! so that the last run removes them and no run removes a directory that existed before.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::named::PREFIX;
use super::temporaries::Listed;
use crate::there::{check_writable, directory_of};

/// The name of an empty file that marks directories created for temporary files.
const MARK: &str = ".merganser-made";

/// The maximum number of attempts: other runs may begin or end between two steps.
const MAX: usize = 20;

/// A directory for temporary files. When this value is dropped, the directory and those above it are removed if a
/// run of this program created them, unless another run uses them or they contain anything else.
#[derive(Debug, Default)]
pub struct MadeDirectories {
    directory: PathBuf,
    _listed: Vec<Listed>,
}

impl MadeDirectories {
    /// Creates a directory and those above it that are missing.
    ///
    /// # Errors
    /// If one cannot be created; those created before are removed again.
    pub fn ensure(directory: &Path) -> io::Result<MadeDirectories> {
        again_if_gone(|| MadeDirectories::ensure_once(directory))
    }

    /// Checks that [`ensure`](Self::ensure) could create a directory, without creating it.
    ///
    /// # Errors
    /// If the outermost missing directory cannot be created, or nothing can be written to an existing one.
    pub fn check(directory: &Path) -> io::Result<()> {
        let missing = steps(directory).filter(|path| !path.exists()).last();
        check_writable(missing.map_or(directory, directory_of))
    }

    fn ensure_once(directory: &Path) -> io::Result<MadeDirectories> {
        let mut made = MadeDirectories { directory: directory.to_owned(), _listed: Vec::new() };
        let above: Vec<&Path> = steps(directory).collect();
        for path in above.into_iter().rev() {
            made.ensure_one(path)?;
        }
        Ok(made)
    }

    /// Creates a directory if it is missing. It is listed if it has a mark, because this process may have to remove
    /// it.
    fn ensure_one(&mut self, path: &Path) -> io::Result<()> {
        let mark = path.join(MARK);
        if !path.exists() {
            let listed = Listed::made_directory(path, &mark)?;
            match fs::create_dir(path).and_then(|()| File::create(&mark)) {
                Ok(_) => self._listed.push(listed),
                // Another run may create the same directory at the same time.
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

    /// Creates the directory and calls `make`, which creates something in it.
    ///
    /// # Errors
    /// If a directory cannot be created, or if `make` fails.
    pub(crate) fn ensure_with<T>(
        directory: &Path,
        mut make: impl FnMut() -> io::Result<T>,
    ) -> io::Result<(T, MadeDirectories)> {
        again_if_gone(|| {
            // The directories are removed again if `make` fails.
            let made = MadeDirectories::ensure_once(directory)?;
            Ok((make()?, made))
        })
    }
}

/// Calls `make`, and calls it again if another run, which was the last user of a directory, removes that directory
/// in the meantime.
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
        // All steps are checked, because `a/..` is an ancestor of `a/../b`, too.
        steps(&self.directory).for_each(remove);
    }
}

/// Returns a directory and those above it, the innermost first.
fn steps(directory: &Path) -> impl Iterator<Item = &Path> {
    directory.ancestors().take_while(|path| !path.as_os_str().is_empty())
}

/// Removes a directory that has a mark and is no longer used.
fn remove(path: &Path) {
    // A run that starts in the meantime and ends while there is no mark leaves the removal to this run. A directory
    // that cannot be removed is kept.
    let _ = (0..MAX).find(|_| try_to_remove(path) == Removed::Done);
}

#[derive(PartialEq, Eq)]
enum Removed {
    /// The directory was removed, or its removal is left to others.
    Done,
    /// It was not possible at this moment: another run started to use the directory while it had no mark, or memory was
    /// short.
    NotYet,
}

fn try_to_remove(path: &Path) -> Removed {
    let mark = path.join(MARK);
    if !mark.exists() {
        return Removed::Done;
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return Removed::NotYet,
        Err(_) => return Removed::Done,
    };
    let others: Vec<_> =
        entries.flatten().filter(|entry| entry.file_name().as_bytes() != MARK.as_bytes()).collect();
    if others.iter().any(belongs_to_runs) {
        return Removed::Done;
    }
    let _ = fs::remove_file(&mark);
    if !others.is_empty() || fs::remove_dir(path).is_ok() || File::create(&mark).is_err() {
        return Removed::Done;
    }
    Removed::NotYet
}

/// Whether an entry of a directory was created by runs of this program: it is a temporary file, has the mark, or
/// contains only such entries. A directory has no mark shortly before a run removes it and shortly after a run has
/// created it; it may already be gone.
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
    fn a_check_makes_no_directory() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        fs::write(path("file"), "").unwrap();
        MadeDirectories::check(&path("a/b")).unwrap();
        MadeDirectories::check(parent.path()).unwrap();
        let is = |name: &str| {
            let [checked, ensured] = [
                MadeDirectories::check(&path(name)).unwrap_err(),
                MadeDirectories::ensure(&path(name)).unwrap_err(),
            ];
            assert_eq!(checked.kind(), ensured.kind(), "{name}");
        };
        is("file/b");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
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
        // Another run is removing the inner directory and has removed its mark when this run ends.
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
