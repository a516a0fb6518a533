//! Where outputs will be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::stream::MAX_LINKS;
use crate::there::directory_of;

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
    for _ in 0..MAX_LINKS {
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
