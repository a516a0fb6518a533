//! A table of ours that is there for this run only.

use merganser_io::AtomicFile;
use merganser_run::{Cancel, Progress};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::{AnyTable, Ranges};

/// An open table whose file has no name: when it is closed, it is gone.
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
        let mut file = AtomicFile::temporary(&session.resources.temp_dir)?;
        let reader = file.reader()?;
        session.write_own(ranges, cut, file, progress, cancel)?;
        // Messages name what the user gave.
        let table = AnyTable::own(reader, session.tables[0].path())?;
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
