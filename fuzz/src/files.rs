//! Where the files of one execution stand.

use std::path::Path;
use std::sync::Once;

use tempfile::TempDir;

/// A folder in memory, where the system has a place for such: on a disk, making files takes longer
/// than reading them.
pub fn folder() -> TempDir {
    // Else every file that is opened asks the system how much there is.
    static LIMIT: Once = Once::new();
    LIMIT.call_once(|| merganser_io::limit_memory(1 << 30));
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary directory")
}

/// Writes a file of a [`folder`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).expect("a temporary file");
}
