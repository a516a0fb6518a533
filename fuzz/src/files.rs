//! Where the files of one execution stand.

use std::path::Path;

use tempfile::TempDir;

/// A folder in memory, where the system has a place for such: on a disk, making files takes longer
/// than reading them.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary directory")
}

/// Writes a file of a [`folder`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).expect("a temporary file");
}
