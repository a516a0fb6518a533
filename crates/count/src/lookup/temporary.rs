//! A table of ours that is there for this run only.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_io::AtomicFile;
use merganser_run::{Cancel, Progress};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::{AnyTable, Ranges};

/// An open table whose file has no name any more: when it is closed, it is gone.
pub(crate) struct Temporary {
    table: AnyTable,
    bytes: u64,
}

impl Temporary {
    /// Writes the k-mers of a session's only table that lie within a cut.
    pub(super) fn write<K: Kmer>(
        session: &Session<'_>,
        ranges: &[Box<dyn Ranges<K> + '_>],
        cut: Cut,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Temporary, Error> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = Made::ensure(session.resources.tmp_dir.clone())?;
        let path = directory.path.join(format!("merganser-{}-{number}.mgk", std::process::id()));
        session.write_own(ranges, cut, AtomicFile::create(&path)?, progress, cancel)?;
        let mut table = AnyTable::open(&path, session.canonical, cancel);
        let removed = std::fs::remove_file(&path);
        removed.map_err(|source| Error::File { path, source })?;
        if let Ok(table) = &mut table {
            // Messages name what the user gave.
            table.rename(session.tables[0].path());
        }
        let table = table?;
        let bytes = table.description().header.as_ref().map_or(0, |header| header.file_bytes);
        Ok(Temporary { table, bytes })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn into_table(self) -> AnyTable {
        self.table
    }
}

/// A directory that is there, and if it was made for this is removed again.
struct Made {
    path: PathBuf,
    made: bool,
}

impl Made {
    fn ensure(path: PathBuf) -> Result<Made, Error> {
        let made = !path.exists();
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(Made { path, made }),
            Err(source) => Err(Error::File { path, source }),
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.made {
            // If others use it by now, it stays.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}
