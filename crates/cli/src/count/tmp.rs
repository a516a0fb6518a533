//! The directory for temporary files, made if it is missing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use merganser_count::{Config, Storage};

/// The directories that this run made, deepest first; they go with it, unless somebody else has
/// put something there.
#[derive(Debug, Default)]
pub(super) struct TemporaryDirectory {
    made: Vec<PathBuf>,
}

impl TemporaryDirectory {
    /// Makes the run's temporary directory if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn ensure(config: &Config) -> Result<TemporaryDirectory> {
        let wanted = config.tmp_dir.as_path();
        if config.storage == Storage::Ram || wanted.is_dir() {
            return Ok(TemporaryDirectory::default());
        }
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut directory = TemporaryDirectory::default();
        let ancestors: Vec<&Path> = wanted.ancestors().take_while(missing).collect();
        for path in ancestors.into_iter().rev() {
            make(path).map_err(|error| {
                anyhow!(
                    "{}: cannot make this directory for temporary files: {}; choose another with \
                     --tmp-dir",
                    wanted.display(),
                    merganser_io::reason(&error)
                )
            })?;
            directory.made.insert(0, path.to_owned());
        }
        Ok(directory)
    }
}

/// Another run may make the same directory at the same time.
fn make(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        for path in &self.made {
            if fs::remove_dir(path).is_err() {
                return;
            }
        }
    }
}
