//! Names of output files: the temporary name next to the target, and the final name.

use super::replaced::{check_replacing, is_another_ones, take_over};
use super::temporaries::{Appearing, Listed};
use crate::Error;
use crate::error::{reason, without_name};
use crate::there::{check_writable, directory_of};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// The prefix of temporary names, before the random letters. The final name is not part of them, because it may
/// already have the maximum length.
pub(super) const PREFIX: &str = ".merganser-";
const RANDOM_LETTERS: usize = 12;

/// A temporary name, whose file is removed when this value is dropped or the process ends.
#[derive(Debug)]
pub(super) struct TemporaryName {
    path: TempPath,
    _listed: Listed,
}

/// A complete file under its temporary name. It is removed if this value is dropped.
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

    /// Returns the final path, as given.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the final path, with symbolic links resolved.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the temporary path.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary.path
    }

    /// Renames the file to its final name in a way that can be undone: an existing file of that name is kept under
    /// another name. Allocates nothing, unless the file system cannot exchange names.
    pub(super) fn appear_for_now(self) -> Result<Appeared, Error> {
        match self.exchange() {
            Ok(()) => Ok(Appeared { target: self.target, before: Before::At(self.temporary) }),
            Err(Errno::NOENT) => self.appear_over(Before::Nothing),
            // Not every kernel and file system can exchange names.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let before = second_name(self.target()).map_or(Before::Lost, Before::At);
                self.appear_over(before)
            }
            Err(error) => Err(Error::Write { path: self.path, cause: Arc::new(error.into()) }),
        }
    }

    /// Exchanges the names of the file and of the existing file at the target.
    fn exchange(&self) -> Result<(), Errno> {
        let exchange =
            || renameat_with(CWD, self.temporary(), CWD, self.target(), RenameFlags::EXCHANGE);
        exchange()?;
        // A file must not replace a directory that was created at the target in the meantime.
        if fs::symlink_metadata(self.temporary()).is_ok_and(|there| there.is_dir()) {
            return exchange().and(Err(Errno::ISDIR));
        }
        Ok(())
    }

    /// Renames the file to its final name; `before` is the state of that name until now.
    fn appear_over(self, before: Before) -> Result<Appeared, Error> {
        let Named { path, temporary, target, .. } = self;
        let failed = |cause| Error::Write { path, cause: Arc::new(cause) };
        match temporary.path.persist(&target) {
            Ok(()) => Ok(Appeared { target, before }),
            Err(error) => Err(failed(without_name(error.error))),
        }
    }

    /// Renames the file to its final name and synchronizes the directory.
    pub(super) fn appear_alone(self) -> Result<(), Error> {
        let failed = |cause| Error::Write { path: self.path.clone(), cause: Arc::new(cause) };
        let appearing = Appearing::begin().map_err(failed)?;
        let appeared = self.appear_over(Before::Lost)?;
        appearing.done();
        sync_directory(directory_of(&appeared.target));
        Ok(())
    }
}

/// A file that has appeared and can be taken back.
#[derive(Debug)]
pub(super) struct Appeared {
    target: PathBuf,
    before: Before,
}

/// The state of a name before a new file appeared.
#[derive(Debug)]
enum Before {
    Nothing,
    /// A file that now has this temporary name and is removed with it.
    At(TemporaryName),
    /// A file that is lost because it had no other name.
    Lost,
}

impl Appeared {
    /// Restores the previous state.
    pub(super) fn take_back(self) {
        // An error is already being reported; a second one is ignored.
        let _ = match self.before {
            Before::At(name) => name.path.persist(self.target).map_err(|error| error.error),
            Before::Nothing => fs::remove_file(self.target),
            Before::Lost => Ok(()),
        };
    }
}

/// Creates a second name for a file, from which it can be restored. This fails for a file whose second name could
/// not be removed again.
fn second_name(target: &Path) -> io::Result<TemporaryName> {
    if is_another_ones(target, &fs::metadata(target)?) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut listed = None;
    let made = temporary_names().make_in(directory_of(target), |name| {
        listed = Some(Listed::file(name)?);
        fs::hard_link(target, name)
    })?;
    let _listed = listed.ok_or(io::ErrorKind::Other)?;
    Ok(TemporaryName { path: made.into_temp_path(), _listed })
}

/// Returns a builder of unique temporary names.
pub(super) fn temporary_names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_LETTERS);
    builder
}

/// Synchronizes a directory, so that the new name of a file is on disk. Errors are ignored: not every file system
/// can do this, and the data of the file are safe.
pub(super) fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

/// Creates a hidden file in the directory of `target`. No other user may open it before it has the permissions of
/// the file that it will replace, or those that the umask leaves.
pub(super) fn temporary_next_to(
    path: &Path,
    target: &Path,
    existing: Option<&Metadata>,
) -> Result<(File, TemporaryName), Error> {
    let failed = |reason| Error::Create { path: path.to_owned(), reason };
    check_target(path, target, existing)?;
    let directory = directory_of(target);
    let mode = if existing.is_some() { 0o600 } else { 0o666 };
    let mut options = File::options();
    options.read(true).write(true).create_new(true).mode(mode);
    let mut listed = None;
    let (made, _listed) = temporary_names()
        .make_in(directory, |name| {
            // The name is listed before the file exists, so that the file is never left behind.
            listed = Some(Listed::file(name)?);
            options.open(name)
        })
        .and_then(|made| Ok((made, listed.ok_or(io::ErrorKind::Other)?)))
        .map_err(|error| cannot_make(path, directory, error))?;
    let (file, path) = made.into_parts();
    let temporary = TemporaryName { path, _listed };
    if let Some(existing) = existing {
        take_over(&file, existing).map_err(|error| failed(reason(&error)))?;
    }
    Ok((file, temporary))
}

/// Checks that [`temporary_next_to`] could create a file, as far as this is possible without creating one.
///
/// # Errors
/// Returns the errors of [`temporary_next_to`].
pub(super) fn check_next_to(
    path: &Path,
    target: &Path,
    existing: Option<&Metadata>,
) -> Result<(), Error> {
    check_target(path, target, existing)?;
    let directory = directory_of(target);
    check_writable(directory).map_err(|error| cannot_make(path, directory, error))
}

/// Checks the name of a file, and that an existing file may be replaced.
fn check_target(path: &Path, target: &Path, existing: Option<&Metadata>) -> Result<(), Error> {
    if target.file_name().is_none() {
        let reason = "it is not the name of a file".into();
        return Err(Error::Create { path: path.to_owned(), reason });
    }
    existing.map_or(Ok(()), |existing| check_replacing(path, target, existing))
}

/// Returns the error of an output for which no file can be created in `directory`.
fn cannot_make(path: &Path, directory: &Path, error: io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => format!("the directory {} does not exist", directory.display()),
        io::ErrorKind::PermissionDenied => {
            format!("the directory {} is not writable", directory.display())
        }
        _ => reason(&without_name(error)),
    };
    Error::Create { path: path.to_owned(), reason }
}
