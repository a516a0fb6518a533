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
    /// index demands; ours replaces files and never writes into them.
    pub(super) fn of_file(file: &File, path: &Path) -> Result<Mapping, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(Error::index(path, "is a directory, not an index"));
        }
        if metadata.len() == 0 {
            return Ok(Mapping(None));
        }
        // SAFETY: the map is only read, as bytes and numbers that may have any value. If another
        // process shortens the file, reads beyond its end raise SIGBUS: documented above.
        let map = unsafe { MmapOptions::new().map(file) }.map_err(at)?;
        Ok(Mapping(Some(map)))
    }

    /// Takes pages of a part out of the process's memory until they are looked at again. What is no
    /// part of the file stays.
    pub(super) fn release(&self, part: &[u8]) {
        const PAGE: usize = 4096;
        let Some(map) = &self.0 else { return };
        let Some(from) = part.as_ptr().addr().checked_sub(map.as_ptr().addr()) else { return };
        let (from, to) = (from.next_multiple_of(PAGE), (from + part.len()) / PAGE * PAGE);
        if from < to && to <= map.len() {
            // SAFETY: the pages are a file's and were never written: they come back as they were.
            // That this may fail does not matter.
            let _ = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, to - from)
            };
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
