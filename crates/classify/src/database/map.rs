//! A file as memory.

use std::fs::File;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::Error;

/// A mapped file.
#[derive(Debug)]
pub(super) struct Mapping(Option<Mmap>);

impl Mapping {
    /// Maps a file that is open, which messages call `path`. It must not be changed while it is in use, as every program that maps its
    /// index demands; ours replace files and never write into them.
    pub(super) fn of_file(file: &File, path: &Path) -> Result<Mapping, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(Error::content(path, "is a directory, not a database"));
        }
        if metadata.len() == 0 {
            return Ok(Mapping(None));
        }
        // SAFETY: the map is only read, as bytes and numbers that may have any value. If another
        // process shortens the file, reads beyond its end raise SIGBUS: documented above.
        let map = unsafe { MmapOptions::new().map(file) }.map_err(at)?;
        Ok(Mapping(Some(map)))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
