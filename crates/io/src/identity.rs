//! The identity of a file: which names lead to the same file.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::output::resolve_output;
use crate::there::{directory_of, look_up};

/// The identity of a regular file, regardless of names and links.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileIdentity {
    /// An existing file: device and inode.
    Existing(u64, u64),
    /// A missing file: canonical directory and name.
    Missing(PathBuf),
}

impl FileIdentity {
    /// Returns the identity of a file; `None` if it is not a regular file, or if no file can be there.
    ///
    /// # Errors
    /// If the disk fails, because a file might then be replaced by mistake.
    pub fn of(path: &Path) -> io::Result<Option<FileIdentity>> {
        match look_up(path) {
            Ok(Some(at)) => Ok(at.is_file().then(|| FileIdentity::Existing(at.dev(), at.ino()))),
            Ok(None) => Ok(missing(path)),
            Err(error) => match error.kind() {
                // Opening the file reports the error.
                io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidFilename => {
                    Ok(missing(path))
                }
                _ => Err(error),
            },
        }
    }
}

fn missing(path: &Path) -> Option<FileIdentity> {
    let target = resolve_output(path).ok()?;
    let folder = fs::canonicalize(directory_of(&target)).ok()?;
    Some(FileIdentity::Missing(folder.join(target.file_name()?)))
}

#[cfg(test)]
mod tests {
    use super::FileIdentity;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_has_one_identity_under_all_names() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str| FileIdentity::of(&dir.path().join(name)).unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        fs::write(dir.path().join("b"), "").unwrap();
        symlink("a", dir.path().join("link")).unwrap();
        symlink("new", dir.path().join("to-new")).unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("hard")).unwrap();
        for name in ["link", "hard", "d/../a"] {
            assert_eq!(of(name), of("a"), "{name}");
        }
        assert!(of("a").is_some() && of("a") != of("b"));
        assert_eq!(of("to-new"), of("d/../new"));
        assert!(of("new").is_some() && of("new") != of("other"));
        assert_eq!([of("d"), of("none/new"), of("a/new")], [None, None, None]);
    }
}
