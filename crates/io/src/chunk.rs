//! A stretch of FASTA or FASTQ text, and how its records are handed to a [`Sink`].

mod check;
mod fasta;
mod fastq;
mod letters;

pub use letters::check_letters;
pub(crate) use letters::is_blank;

use crate::alignment::{MateRuns, Reads};
use crate::beginning::{BYTE_ORDER_MARK, is_utf16};
use crate::failures::Failures;
use crate::format::Format;
use crate::{Error, Phred};
use merganser_inflate::Text;
use merganser_inflate::bgzf::{Block, Inflater};
use merganser_run::Warnings;
use std::sync::Arc;

/// What becomes of the records of a chunk. All calls for one chunk come in the order of its text.
pub trait Sink {
    /// A record begins. `header` is its first line without `>` or `@`, blanks behind these, and line
    /// end.
    fn begin(&mut self, header: &[u8]);

    /// The sequence that was cut at the end of an earlier chunk of the same file goes on. Its last
    /// `overlap` bases (see [`ReaderOptions`](crate::ReaderOptions)), or all of them if it was
    /// shorter so far, are repeated first: with an overlap of k-1, each k-mer of the record then
    /// is whole in exactly one chunk.
    fn resume(&mut self);

    /// Follows each [`resume`](Self::resume): how many bases are repeated. For those who count
    /// bases or letters, not k-mers.
    fn repeated(&mut self, bases: usize) {
        let _ = bases;
    }

    /// More of the record's sequence, without line ends and blanks, never empty for FASTA; a k-mer may
    /// span two calls. `quality` is the FASTQ quality of the same length, `None` for FASTA. A FASTQ
    /// record has exactly one call, which is empty if its sequence is.
    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>);

    /// No more of this record in this chunk.
    fn end(&mut self);

    /// Whether it looks at qualities: if not, they may be any bytes.
    fn uses_qualities(&self) -> bool {
        true
    }
}

/// What was in a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkStats {
    /// Records that begin in this chunk: summed over all chunks, each counts once.
    pub records: u64,
    /// Bases (letters of sequence lines) in this chunk, those that are repeated from an earlier
    /// chunk not among them: summed over all chunks, each counts once.
    pub bases: u64,
}

/// A stretch of text with whole FASTQ records, or FASTA records that may be cut within a
/// sequence. Each worker makes one and has it refilled by
/// [`Reader::next_chunk`](crate::Reader::next_chunk), so that its memory is taken once.
#[derive(Default)]
pub struct Chunk {
    /// The text; the room before it takes what the chunk before hands on.
    pub(crate) text: Text,
    /// Where the blocks of compressed bytes are, to be inflated into the text.
    pub(crate) blocks: Vec<Block>,
    pub(crate) inflater: Inflater,
    /// Memory for the next reads to be made of alignments.
    pub(crate) reads: Vec<u8>,
    /// Alignments passed over.
    pub(crate) skipped: u64,
    /// Which reads of alignments are mates; `None` for other formats.
    pub(crate) mates: Option<MateRuns>,

    pub(crate) file: usize,
    pub(crate) name: Arc<str>,
    pub(crate) failures: Arc<Failures>,
    pub(crate) source_bytes: u64,
    /// What qualities of FASTQ mean, but for those made of alignments.
    pub(crate) phred: Phred,
    pub(crate) of_alignments: bool,
    pub(crate) warnings: Warnings,
    pub(crate) format: Option<Format>,
    /// The first chunk of its file.
    pub(crate) first: bool,
    /// From 0, how many chunks of its file were handed out before it.
    pub(crate) ordinal: u64,
    /// From 0, the number of the line in which the text begins.
    pub(crate) line: u64,
    /// From 0, the number of the first FASTQ record.
    pub(crate) record: u64,
    /// FASTA: begins within a sequence,
    pub(crate) resume: bool,
    /// and so that the first line is sequence whatever its first letter,
    pub(crate) in_line: bool,
    /// with this many bases that an earlier chunk had, too.
    pub(crate) repeated: usize,
}

impl Chunk {
    /// Hands the records of this chunk to `sink`, in the order of the text.
    ///
    /// Blanks in sequence lines are no letters, and are left out.
    ///
    /// # Errors
    ///
    /// If a FASTQ record is malformed, FASTA has a line that is none of it, or a sequence has binary
    /// data. Records before the
    /// malformed one have been handed out. With several workers, a later error of the same cause
    /// may surface first: [`Reader::earliest_error`](crate::Reader::earliest_error) gives the one
    /// to report.
    pub fn parse<S: Sink>(&self, sink: &mut S) -> Result<ChunkStats, Error> {
        let result = self.check_beginning().and_then(|()| match self.format {
            None => Ok(ChunkStats::default()),
            Some(Format::Fasta) => self.parse_fasta(sink),
            Some(_) => self.parse_fastq(sink),
        });
        result.map_err(|error| self.failures.note(self.file, self.line, error))
    }

    /// Searches the sequences of this chunk for binary data: bytes that are no printable ASCII.
    ///
    /// # Errors
    ///
    /// If there are any; the error names file, line and byte.
    pub fn check(&self) -> Result<(), Error> {
        let result = self.find_binary(self.text().len());
        result.map_err(|error| self.failures.note(self.file, self.line, error))
    }

    /// The length of the text, in bytes.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// About how many bytes on disk (compressed, if the file is) this chunk came from. Summed over
    /// all chunks, what was read so far.
    pub fn source_bytes(&self) -> u64 {
        self.source_bytes
    }

    /// Which input this chunk is of: its index among those given to the reader.
    pub fn file(&self) -> usize {
        self.file
    }

    /// How many chunks of its file come before this one: with [`file`](Self::file), the place of
    /// its text in the inputs, whichever worker got it. Without gaps, as long as nothing failed.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.text.bytes()
    }

    /// Passes over the byte order mark with which the text of the first chunk of an input may begin.
    ///
    /// # Errors
    /// If the text is UTF-16.
    pub(crate) fn pass_mark(&mut self) -> Result<(), Error> {
        if is_utf16(self.text()) {
            return Err(Error::Utf16 { input: self.name.to_string() });
        }
        if self.text().starts_with(BYTE_ORDER_MARK) {
            self.text.start += BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// Gives back the memory of a text of more than `usual` bytes, which is not needed any more.
    pub(crate) fn shrink(&mut self, usual: usize) {
        if self.text.buffer.len() > usual || self.reads.capacity() > usual {
            (self.text.buffer, self.reads) = (Vec::new(), Vec::new());
            (self.text.start, self.text.end) = (0, 0);
        }
    }

    /// Has the text written: FASTQ made of alignments. Those passed over are counted.
    pub(crate) fn write_reads<E>(
        &mut self,
        write: impl FnOnce(&mut Reads) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reads = Reads { text: std::mem::take(&mut self.reads), ..Reads::default() };
        reads.text.clear();
        let written = write(&mut reads);
        self.skipped += reads.skipped;
        self.mates = Some(reads.mates);
        self.reads = std::mem::replace(&mut self.text.buffer, reads.text);
        (self.text.start, self.text.end) = (0, self.text.buffer.len());
        self.of_alignments = true;
        written
    }
}

/// The line of `text` that begins at `start`, without its line end, and where the next one begins.
#[inline]
fn line_at(text: &[u8], start: usize) -> (&[u8], usize) {
    match memchr::memchr(b'\n', &text[start..]) {
        Some(length) => (without_return(&text[start..start + length]), start + length + 1),
        None => (without_return(&text[start..]), text.len()),
    }
}

#[inline]
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A header from its name on: some writers put a blank behind `>` or `@`.
#[inline]
fn name_on(header: &[u8]) -> &[u8] {
    match header {
        [b' ' | b'\t', ..] => header.trim_ascii_start(),
        _ => header,
    }
}
