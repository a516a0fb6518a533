//! Resolution of the paths of outputs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::stream::MAX_LINKS;
use crate::there::directory_of;

/// Returns the path of the file that is written for `path`. Symbolic links are followed, including links to files
/// that do not exist yet, as the shell's `>` does.
///
/// # Errors
///
/// If a link cannot be read, or if links form a cycle.
pub(crate) fn resolve_output(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = path.canonicalize() {
        return Ok(target);
    }
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = directory_of(&target).join(next),
            // Not a link, or nothing exists there yet.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput) => return Ok(target),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => return Ok(target),
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}
