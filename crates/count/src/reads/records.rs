//! Whole records in order, a batch at a time.

use merganser_io::{Chunk, Input, Reader, ReaderOptions, Sink};
use merganser_run::Cancel;

use crate::Error;

/// Text that is parsed at once.
const CHUNK_BYTES: usize = 2 << 20;

/// A record; FASTA has no quality.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) header: Vec<u8>,
    pub(super) sequence: Vec<u8>,
    pub(super) quality: Option<Vec<u8>>,
}

impl Record {
    /// The first word of the header.
    pub(super) fn id(&self) -> &[u8] {
        self.header.split(u8::is_ascii_whitespace).next().unwrap_or_default()
    }

    /// The id that both mates of a pair have.
    pub(super) fn pair_id(&self) -> &[u8] {
        let id = self.id();
        id.strip_suffix(b"/1").or_else(|| id.strip_suffix(b"/2")).unwrap_or(id)
    }

    /// Appends it as it was read, a sequence in one line.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(if self.quality.is_some() { b'@' } else { b'>' });
        out.extend_from_slice(&self.header);
        out.push(b'\n');
        out.extend_from_slice(&self.sequence);
        out.push(b'\n');
        if let Some(quality) = &self.quality {
            out.extend_from_slice(b"+\n");
            out.extend_from_slice(quality);
            out.push(b'\n');
        }
    }
}

/// Reads the records of inputs one after the other.
pub(super) struct Records {
    reader: Reader,
    chunk: Chunk,
    parsed: Parsed,
    /// The record that may go on in the next chunk.
    open: Option<Record>,
    ended: bool,
}

#[derive(Default)]
struct Parsed {
    records: Vec<Record>,
    /// The first of them goes on with the open one.
    goes_on: bool,
}

impl Records {
    pub(super) fn open(inputs: &[Input], cancel: &Cancel) -> Result<Records, Error> {
        let options = ReaderOptions {
            chunk_bytes: CHUNK_BYTES,
            overlap: 0,
            workers: 1,
            cancel: cancel.clone(),
        };
        let reader = Reader::open(inputs, options)?;
        let (chunk, parsed) = (Chunk::default(), Parsed::default());
        Ok(Records { reader, chunk, parsed, open: None, ended: false })
    }

    /// Appends the next records; false if there are none. The source bytes that they took are added
    /// to `bytes`.
    pub(super) fn next(
        &mut self,
        records: &mut Vec<Record>,
        bytes: &mut u64,
    ) -> Result<bool, Error> {
        let before = records.len();
        while records.len() == before && !self.ended {
            if !self.reader.next_chunk(&mut self.chunk)? {
                self.ended = true;
                records.extend(self.open.take());
                break;
            }
            *bytes += self.chunk.source_bytes();
            self.parsed.goes_on = false;
            self.chunk.parse(&mut self.parsed)?;
            self.chunk.check()?;
            let mut new = self.parsed.records.drain(..);
            if self.parsed.goes_on
                && let (Some(open), Some(more)) = (&mut self.open, new.next())
            {
                open.sequence.extend_from_slice(&more.sequence);
            }
            for record in new {
                records.extend(self.open.replace(record));
            }
        }
        Ok(records.len() > before)
    }

    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.reader.bytes_total()
    }

    /// The inputs, as messages show them.
    pub(super) fn name(&self) -> String {
        self.reader.names().collect::<Vec<_>>().join(", ")
    }
}

impl Sink for Parsed {
    fn begin(&mut self, header: &[u8]) {
        self.records.push(Record { header: header.to_vec(), ..Record::default() });
    }

    fn resume(&mut self) {
        self.goes_on = true;
        self.records.push(Record::default());
    }

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        if let Some(record) = self.records.last_mut() {
            record.sequence.extend_from_slice(line);
            record.quality = quality.map(<[u8]>::to_vec);
        }
    }

    fn end(&mut self) {}
}
