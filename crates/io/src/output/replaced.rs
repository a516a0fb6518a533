//! Checks whether an output may replace what exists at its path, and gives it the owner and permissions of the
//! file that it replaces.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Access as Permission, AtFlags, CWD, accessat};
use rustix::process::geteuid;

use super::resolved::resolve_output;
use crate::Error;
use crate::error::reason;
use crate::stream::{Access, Descriptor, Leads, leads};
use crate::there::directory_of;

/// The sticky bit. In a folder that has it, only the owner of a file or of the folder may remove or rename the file.
const STICKY: u32 = 0o1000;

/// Checks that an output can be written to `path` (`-` is standard output), as far as this is possible before it is
/// created. An open stream, such as `/dev/fd/N`, must be writable and inherited from the parent process; an existing
/// file must be writable and replaceable.
///
/// Programs should call this before they start to work. [`Output::create`](crate::Output::create) returns the same
/// errors.
///
/// # Errors
///
/// If the output cannot be written.
pub fn check_output(path: &Path) -> Result<(), Error> {
    if path.as_os_str() == "-" {
        let stdout = Descriptor::STDOUT.open(Access::Write);
        return stdout.map(drop).map_err(|error| cannot_write(Path::new("stdout"), error));
    }
    if let Some(Leads::Here(descriptor)) = leads(path)
        && !descriptor.is_inherited()
    {
        return Err(cannot_write(path, descriptor.closed()));
    }
    if open_stream(path)?.is_some() {
        return Ok(());
    }
    match (fs::metadata(path), resolve_output(path)) {
        (Ok(existing), Ok(target)) if existing.is_file() => {
            check_replacing(path, &target, &existing)
        }
        // Other errors are reported when the output is created.
        _ => Ok(()),
    }
}

/// Opens the stream that a path refers to. Returns `None` if the path does not refer to a descriptor.
///
/// # Errors
///
/// If the stream is closed or not writable, or if the path leads to a regular file through a descriptor of another
/// process (`/proc/PID/fd/N`).
pub(super) fn open_stream(path: &Path) -> Result<Option<File>, Error> {
    match leads(path) {
        Some(Leads::Here(descriptor)) => {
            let file = descriptor.open(Access::Write);
            file.map(Some).map_err(|error| cannot_write(path, error))
        }
        Some(Leads::Elsewhere) if fs::metadata(path).is_ok_and(|at| at.is_file()) => {
            let what = "the path leads to a file that another process has open: give the path of the \
                        file itself";
            Err(cannot_write(path, io::Error::other(what)))
        }
        Some(Leads::Elsewhere) | None => Ok(None),
    }
}

/// Checks that a file may be replaced. A write-protected file is refused, as by the shell's `>`. Another user's file
/// in another user's sticky folder is refused too, because the system would not let this user rename or remove it.
pub(super) fn check_replacing(
    path: &Path,
    target: &Path,
    existing: &Metadata,
) -> Result<(), Error> {
    let failed = |reason| Error::Create { path: path.to_owned(), reason };
    if let Err(error) = accessat(CWD, target, Permission::WRITE_OK, AtFlags::EACCESS) {
        return Err(failed(match error {
            rustix::io::Errno::ACCESS => {
                "the existing file is write-protected: make it writable (chmod u+w), remove it, or choose another name"
                    .to_owned()
            }
            error => reason(&error.into()),
        }));
    }
    match is_another_ones(target, existing) {
        true => Err(failed(
            "the existing file belongs to another user, and its folder has the sticky bit: only the owner of the \
             file or of the folder can replace it; choose another name"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// Whether a file belongs to another user and is in another user's sticky folder, so that this user can neither
/// rename nor remove it. Always false for root.
pub(super) fn is_another_ones(target: &Path, existing: &Metadata) -> bool {
    let user = geteuid();
    let others = |at: &Metadata| at.uid() != user.as_raw();
    let folder = fs::metadata(directory_of(target));
    !user.is_root()
        && others(existing)
        && folder.is_ok_and(|folder| folder.mode() & STICKY != 0 && others(&folder))
}

/// Gives a file the owner, the group and the permissions of the file that it will replace, as far as the system
/// allows: only root can change the owner, and other users can change the group only to one of their own. If the
/// group cannot be kept, the new group gets only the permissions that the old file gave both to its group and to all
/// other users. setuid and setgid are never passed on.
pub(super) fn take_over(file: &File, existing: &Metadata) -> io::Result<()> {
    let before = file.metadata()?;
    if before.uid() != existing.uid() {
        let _ = fchown(file, Some(existing.uid()), None);
    }
    if before.gid() != existing.gid() {
        let _ = fchown(file, None, Some(existing.gid()));
    }
    let mode = existing.mode() & 0o777;
    let same_group = file.metadata()?.gid() == existing.gid();
    // Another group gets only permissions that all users had.
    let mode = if same_group { mode } else { mode & (0o707 | (mode & 0o007) << 3) };
    file.set_permissions(Permissions::from_mode(mode))
}

fn cannot_write(path: &Path, cause: io::Error) -> Error {
    Error::Write { path: path.to_owned(), cause: Arc::new(cause) }
}
