//! Temporary `.mgk` tables, which exist only during a run.

use merganser_io::AtomicFile;
use merganser_run::{Cancel, Context, Progress};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::ranges::Ranges;
use crate::tables::AnyTable;

/// An open table whose file has no name: it disappears when it is closed.
pub(crate) struct Temporary {
    table: AnyTable,
    bytes: u64,
}

impl Temporary {
    /// Writes the k-mers of a session's only table, restricted to a cut.
    pub(crate) fn write<K: Kmer>(
        session: &Session<'_>,
        ranges: &[Box<dyn Ranges<K> + '_>],
        cut: Cut,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Temporary, Error> {
        let mut file = AtomicFile::temporary(&session.context.temp_dir)?;
        let reader = file.reader()?;
        session.write_own(ranges, cut, file, progress, cancel)?;
        // Messages name the table that the user gave.
        let table = AnyTable::own(reader, session.tables[0].path())?;
        let bytes = table.description().header.as_ref().map_or(0, |header| header.file_bytes);
        Ok(Temporary { table, bytes })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn into_table(self) -> AnyTable {
        self.table
    }
}

impl AnyTable {
    /// Returns a table that can be read any number of times: text from a pipe is written to a temporary `.mgk`
    /// table, other tables are returned unchanged.
    ///
    /// The progress stages are `gathering` and `computing`, in bytes of the table.
    ///
    /// # Errors
    /// If the text cannot be read, memory or disk space is too small, or the run was cancelled
    /// ([`Error::Cancelled`]).
    pub fn kept(self, context: &Context) -> Result<AnyTable, Error> {
        if self.is_read_once() { self.rewritten(context) } else { Ok(self) }
    }

    /// Returns a table whose k-mers can be read in ascending order without gathering them first: other tables are written
    /// to a temporary `.mgk` table.
    ///
    /// The progress stages and the errors are those of [`kept`](Self::kept).
    ///
    /// # Errors
    /// Fails as [`kept`](Self::kept) does.
    pub fn sorted(self, context: &Context) -> Result<AnyTable, Error> {
        if self.is_unsorted() { self.rewritten(context) } else { Ok(self) }
    }

    /// Writes the table to a temporary `.mgk` table, and returns that.
    fn rewritten(self, context: &Context) -> Result<AnyTable, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        let session = Session::new(std::slice::from_ref(&self), 1, context)?;
        let temporary = with_kmer!(self.description().k, K => {
            let ranges = session.ranges::<K>(progress, cancel)?;
            Temporary::write(&session, &ranges, Cut::NONE, progress, cancel)
        });
        progress.finish();
        Ok(temporary?.into_table())
    }
}
