//! Names of outputs: the temporary one beside the target, and the final one.

use super::temporaries::{Appearing, Listed};
use crate::Error;
use crate::error::{reason, without_name};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// Before the random letters of temporary names: the final name is no part of them, as it may be as
/// long as names can be.
pub(super) const PREFIX: &str = ".merganser-";
const RANDOM_LETTERS: usize = 12;

/// A name that goes when this does, or when the process ends.
#[derive(Debug)]
pub(super) struct TemporaryName {
    path: TempPath,
    _listed: Listed,
}

/// A file that is complete, and has only its temporary name yet; dropped, it is gone.
#[derive(Debug)]
pub(super) struct Named {
    path: PathBuf,
    temporary: TemporaryName,
    target: PathBuf,
    bytes: u64,
}

impl Named {
    pub(super) fn new(
        path: PathBuf,
        temporary: TemporaryName,
        target: PathBuf,
        bytes: u64,
    ) -> Named {
        Named { path, temporary, target, bytes }
    }

    /// Where it will be, as given.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it will be, with symbolic links resolved.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where it is.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary.path
    }

    /// Gives the file its name.
    pub(super) fn appear(self) -> Result<(), Error> {
        let Named { path, temporary, target, .. } = self;
        let failed = |cause| Error::Write { path, cause: Arc::new(cause) };
        temporary.path.persist(target).map_err(|error| failed(without_name(error.error)))
    }

    /// Gives the file its name, and puts that on disk.
    pub(super) fn appear_alone(self) -> Result<(), Error> {
        let target = self.target.clone();
        let failed = |cause| Error::Write { path: self.path.clone(), cause: Arc::new(cause) };
        let appearing = Appearing::begin().map_err(failed)?;
        self.appear()?;
        appearing.done();
        sync_directory(directory_of(&target));
        Ok(())
    }
}

/// A new name is on disk only when its directory is. Not every file system can do that, and the
/// file itself is safe.
pub(super) fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

/// The directory that a file stands in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Links in a row, after which the system gives up as well.
const MOST_LINKS: usize = 40;

/// Where a file that is written to `path` will be: symbolic links are followed, also one that leads
/// to a file that is not there yet, as by the shell's `>`.
///
/// # Errors
///
/// If a link cannot be read, or they go round in circles.
pub fn resolve_output(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = path.canonicalize() {
        return Ok(target);
    }
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = directory_of(&target).join(next),
            // No link, or nothing yet.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput) => return Ok(target),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => return Ok(target),
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// A hidden file in the directory of `target`, which nobody else may open before it has the
/// permissions of the file that it will replace, or those that the umask leaves.
pub(super) fn temporary_next_to(
    path: &Path,
    target: &Path,
    existing: Option<&Metadata>,
) -> Result<(File, TemporaryName), Error> {
    let failed = |reason| Error::Create { path: path.to_owned(), reason };
    if target.file_name().is_none() {
        return Err(failed("it is not the name of a file".into()));
    }
    let directory = directory_of(target);
    let mode = if existing.is_some() { 0o600 } else { 0o666 };
    let mut options = File::options();
    options.read(true).write(true).create_new(true).mode(mode);
    let mut listed = None;
    let (made, _listed) = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(RANDOM_LETTERS)
        .make_in(directory, |name| {
            // Before it is there, so that it is never left behind.
            listed = Some(Listed::file(name)?);
            options.open(name)
        })
        .and_then(|made| Ok((made, listed.ok_or(io::ErrorKind::Other)?)))
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                failed(format!("the directory {} does not exist", directory.display()))
            }
            io::ErrorKind::PermissionDenied => {
                failed(format!("the directory {} is not writable", directory.display()))
            }
            _ => failed(reason(&without_name(error))),
        })?;
    let (file, path) = made.into_parts();
    let temporary = TemporaryName { path, _listed };
    if let Some(existing) = existing {
        take_permissions(&file, existing).map_err(|error| failed(reason(&error)))?;
    }
    Ok((file, temporary))
}

/// Gives a file the permissions of the one that it will replace; not those of a group that is
/// another one's, and none to run as somebody else.
fn take_permissions(file: &File, existing: &Metadata) -> io::Result<()> {
    let mode = existing.mode() & 0o777;
    let same_group = file.metadata()?.gid() == existing.gid();
    // What all may do, the group may.
    let mode = if same_group { mode } else { mode & (0o707 | (mode & 0o007) << 3) };
    file.set_permissions(Permissions::from_mode(mode))
}
