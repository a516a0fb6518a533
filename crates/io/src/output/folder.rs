//! Folders of temporary files that have names.

use super::made::MadeDirectories;
use super::named::temporary_names;
use super::temporaries::Listed;
use crate::Error;
use crate::error::{reason, without_name};
use merganser_run::locks::lock;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A folder of this run for temporary files that are opened by name. The folder and the files that were requested
/// with [`file`](Self::file) are removed when this value is dropped or the process ends.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    files: Mutex<Vec<(PathBuf, Listed)>>,
    _listed: Listed,
    _made: MadeDirectories,
}

impl TemporaryFolder {
    /// Creates a folder in `dir`, which is created too if it does not exist, and then removed again.
    ///
    /// # Errors
    ///
    /// If one of them cannot be created.
    pub fn create(dir: &Path) -> Result<TemporaryFolder, Error> {
        let failed =
            |error| Error::TemporaryDirectory { dir: dir.to_owned(), reason: reason(&error) };
        let make = || {
            let mut listed = None;
            let made = temporary_names().make_in(dir, |name| {
                listed = Some(Listed::directory(name)?);
                fs::create_dir(name)
            })?;
            Ok((made, listed.ok_or(io::ErrorKind::Other)?))
        };
        let made = MadeDirectories::ensure_with(dir, make);
        let ((made, _listed), _made) = made.map_err(|error| failed(without_name(error)))?;
        // The folder is removed by `Drop`, not by `tempfile`, which would remove it as a file.
        let path = made.into_temp_path().keep().map_err(|error| failed(error.error))?;
        Ok(TemporaryFolder { path, files: Mutex::default(), _listed, _made })
    }

    /// Returns the path for a file in the folder, which the caller may create.
    ///
    /// # Errors
    ///
    /// If the process is about to end.
    pub fn file(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        let mut files = lock(&self.files);
        if files.iter().all(|(known, _)| *known != path) {
            let failed =
                |error| Error::TemporaryDirectory { dir: path.clone(), reason: reason(&error) };
            let listed = Listed::file(&path).map_err(failed)?;
            files.push((path.clone(), listed));
        }
        Ok(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        for (path, _listed) in lock(&self.files).drain(..) {
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_dir(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::TemporaryFolder;
    use std::fs;
    use std::path::Path;

    #[test]
    fn it_goes_with_its_files() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/b");
        let folder = TemporaryFolder::create(&dir).unwrap();
        let path = folder.file("x").unwrap();
        assert_eq!(folder.file("x").unwrap(), path);
        folder.file("never made").unwrap();
        fs::write(&path, "x").unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2, "itself, and the mark");
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        let error = TemporaryFolder::create(Path::new("/dev/null/x")).unwrap_err().to_string();
        assert!(error.starts_with("/dev/null/x: cannot make a temporary file here: "), "{error}");
    }
}
