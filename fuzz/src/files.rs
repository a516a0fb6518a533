//! The files of an execution.

use std::path::Path;
use std::sync::Once;

use tempfile::TempDir;

/// Creates a folder, in memory if the system has `/dev/shm`: creating files on a disk takes longer than reading them.
pub fn folder() -> TempDir {
    // Otherwise, opening a file queries the system for its memory each time.
    static LIMIT: Once = Once::new();
    LIMIT.call_once(|| merganser_io::limit_memory(1 << 30));
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary directory")
}

/// Writes a file to a [`folder`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).expect("a temporary file");
}
