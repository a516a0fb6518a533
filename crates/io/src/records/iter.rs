//! Iteration over single records, for programs that read on one thread.

use std::io::{self, Write};

use super::{Record, RecordBatch, Records};
use crate::Error;

/// A record with its own memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedRecord {
    /// The header up to the first blank; empty if it is not kept.
    pub name: Vec<u8>,
    /// The name, and the rest of the header if it is kept.
    pub header: Vec<u8>,
    /// The sequence, without line ends.
    pub letters: Vec<u8>,
    /// The qualities as letters (Phred+33); `None` in FASTA, or if they are not kept.
    pub quality: Option<Vec<u8>>,
}

impl OwnedRecord {
    /// Returns a view of the record.
    pub fn as_record(&self) -> Record<'_> {
        let OwnedRecord { name, header, letters, quality } = self;
        Record { name, header, letters, quality: quality.as_deref() }
    }

    /// Writes the record as [`Record::write`] does: as FASTQ if it has qualities, otherwise as FASTA.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut text = Vec::with_capacity(self.header.len() + 2 * self.letters.len() + 8);
        self.as_record().write(&mut text);
        output.write_all(&text)
    }
}

/// The records of [`Records`] one by one, returned by its [`into_iter`](Records::into_iter). Mates follow each other.
pub struct RecordIter {
    records: Records,
    batch: RecordBatch,
    /// The number of records of the batch that were returned.
    taken: usize,
    ended: bool,
}

impl IntoIterator for Records {
    type Item = Result<OwnedRecord, Error>;
    type IntoIter = RecordIter;

    /// Returns the records in the order of the input. After an error, there are no more.
    ///
    /// ```
    /// use merganser_io::{RecordOptions, Records};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("reads.fq");
    /// std::fs::write(&path, "@one text\nACGT\n+\nIIII\n@two\nAC\n+\nII\n")?;
    /// let mut bases = 0;
    /// for record in Records::open([path], RecordOptions::<merganser_io::SequencesOnly>::default())? {
    ///     bases += record?.letters.len();
    /// }
    /// assert_eq!(bases, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn into_iter(self) -> RecordIter {
        RecordIter { records: self, batch: RecordBatch::default(), taken: 0, ended: false }
    }
}

impl Iterator for RecordIter {
    type Item = Result<OwnedRecord, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.taken == self.batch.len() && !self.ended {
            self.taken = 0;
            match self.records.next(&mut self.batch) {
                Ok(Some(_)) => {}
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.batch.clear();
                    return Some(Err(error));
                }
            }
        }
        if self.taken == self.batch.len() {
            return None;
        }
        let record = self.batch.record(self.taken);
        self.taken += 1;
        Some(Ok(OwnedRecord {
            name: record.name.to_vec(),
            header: record.header.to_vec(),
            letters: record.letters.to_vec(),
            quality: record.quality.map(<[u8]>::to_vec),
        }))
    }
}
