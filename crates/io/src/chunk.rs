//! Chunks of FASTA or FASTQ text, and how their records are passed to a [`Sink`].

mod check;
mod fasta;
mod fastq;
mod letters;

pub use letters::check_letters;
pub(crate) use letters::is_blank;

use crate::alignment::{AlignmentBytes, AlignmentHeader, KeepAlignments, MateRuns, Reads};
use crate::beginning::{BYTE_ORDER_MARK, is_utf16};
use crate::failures::Failures;
use crate::format::Format;
use crate::{Error, Phred};
use merganser_inflate::Text;
use merganser_inflate::bgzf::{Block, Inflater};
use merganser_run::Warnings;
use std::sync::Arc;

/// A receiver of the records of a chunk. Its methods are called in the order of the text.
pub trait Sink {
    /// Begins a record. `header` is its first line without the `>` or `@`, blanks after it, and the line end.
    fn begin(&mut self, header: &[u8]);

    /// Continues the sequence that was cut at the end of an earlier chunk of the same file.
    ///
    /// Its last `overlap` bases (see [`ReaderOptions`](crate::ReaderOptions)), or all its bases if it was shorter
    /// so far, are repeated first. With an overlap of k-1, each k-mer of the record is complete in exactly one
    /// chunk.
    fn resume(&mut self);

    /// Receives the number of repeated bases after each [`resume`](Self::resume), for sinks that count bases or
    /// letters instead of k-mers.
    fn repeated(&mut self, bases: usize) {
        let _ = bases;
    }

    /// Receives the next part of the record's sequence, without line ends and blanks; it is never empty for FASTA.
    /// A k-mer may span two calls.
    ///
    /// `quality` is the FASTQ quality of the same length, and `None` for FASTA. A FASTQ record has exactly one
    /// call, which is empty if its sequence is empty.
    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>);

    /// Ends the record in this chunk.
    fn end(&mut self);

    /// Whether the sink uses qualities. If not, they are not checked and may be any bytes.
    fn uses_qualities(&self) -> bool {
        true
    }
}

/// The numbers of records and bases in a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkStats {
    /// The number of records that begin in this chunk. In the sum over all chunks, each record counts once.
    pub records: u64,
    /// The number of bases (letters of sequence lines) in this chunk, without those repeated from an earlier chunk.
    /// In the sum over all chunks, each base counts once.
    pub bases: u64,
}

/// The properties of a chunk whose text is on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteChunk<'c> {
    /// Whether the text is FASTQ and not FASTA.
    pub is_fastq: bool,
    /// Whether the text begins within a line of a FASTA sequence.
    pub in_line: bool,
    /// The letters at the beginning that repeat the end of an earlier chunk of FASTA.
    pub repeated: &'c [u8],
}

/// A stretch of text with whole FASTQ records, or with FASTA records that may be cut within a sequence.
///
/// Each worker creates one chunk and refills it with [`Reader::next_chunk`](crate::Reader::next_chunk), which
/// reuses its memory.
#[derive(Default)]
pub struct Chunk {
    /// The text. The free space before it receives the text that is carried over from the previous chunk.
    pub(crate) text: Text,
    /// The blocks of compressed bytes that are to be inflated into the text.
    pub(crate) blocks: Vec<Block>,
    pub(crate) inflater: Inflater,
    /// A buffer for the next reads that are converted from alignments.
    pub(crate) reads: Vec<u8>,
    /// The number of alignments that were skipped.
    pub(crate) skipped: u64,
    /// The adjacent mates among reads converted from alignments; `None` for other formats.
    pub(crate) mates: Option<MateRuns>,
    /// The alignments of each read, if they are kept.
    pub(crate) alignments: AlignmentBytes,
    /// Whether alignments of a template that do not lie side by side were found.
    pub(crate) is_ungrouped: bool,

    pub(crate) file: usize,
    pub(crate) name: Arc<str>,
    pub(crate) failures: Arc<Failures>,
    pub(crate) source_bytes: u64,
    /// The encoding of FASTQ qualities; ignored for qualities converted from alignments.
    pub(crate) phred: Phred,
    pub(crate) of_alignments: bool,
    pub(crate) warnings: Warnings,
    pub(crate) format: Option<Format>,
    /// Whether this is the first chunk of its file.
    pub(crate) first: bool,
    /// The number of chunks of its file that were returned before it.
    pub(crate) ordinal: u64,
    /// The number, from 0, of the line at which the text begins.
    pub(crate) line: u64,
    /// The number, from 0, of the first FASTQ record.
    pub(crate) record: u64,
    /// Whether the chunk begins within a FASTA sequence.
    pub(crate) resume: bool,
    /// Whether the first line of FASTA is sequence whatever its first letter, because the chunk begins within a
    /// line.
    pub(crate) in_line: bool,
    /// The number of bases at the beginning that repeat the end of an earlier chunk of FASTA.
    pub(crate) repeated: usize,
}

impl Chunk {
    /// Passes the records of this chunk to `sink`, in the order of the text. Blanks in sequence lines are skipped.
    ///
    /// # Errors
    ///
    /// If a FASTQ record is malformed, a line is not FASTA, or a sequence contains binary data. Records before the
    /// malformed one have been passed to `sink`. With several workers, a later error of the same cause may be
    /// returned first; [`Reader::earliest_error`](crate::Reader::earliest_error) returns the one to report.
    pub fn parse<S: Sink>(&self, sink: &mut S) -> Result<ChunkStats, Error> {
        let result = self.check_beginning().and_then(|()| match self.format {
            None => Ok(ChunkStats::default()),
            Some(Format::Fasta) => self.parse_fasta(sink),
            Some(_) => self.parse_fastq(sink),
        });
        result.map_err(|error| self.failures.note(self.file, self.line, error))
    }

    /// Checks the sequences of this chunk for binary data: bytes that are not printable ASCII.
    ///
    /// # Errors
    ///
    /// If there is any; the error names the file, line and byte.
    pub fn check(&self) -> Result<(), Error> {
        let result = self.find_binary(self.text().len());
        result.map_err(|error| self.failures.note(self.file, self.line, error))
    }

    /// Returns the length of the text in bytes.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Returns the approximate number of bytes on disk (compressed, if the file is compressed) of this chunk. The
    /// sum over all chunks is the number of bytes read so far.
    pub fn source_bytes(&self) -> u64 {
        self.source_bytes
    }

    /// Returns the index of the input of this chunk among those given to the reader.
    pub fn file(&self) -> usize {
        self.file
    }

    /// Returns the number of chunks of its file that precede this one. With [`file`](Self::file) it gives the
    /// position of the text in the inputs, whichever worker received it. Ordinals have no gaps as long as nothing
    /// has failed.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Returns what is known of a text on a device before it is read.
    pub fn remote(&self) -> RemoteChunk<'_> {
        let repeated = self.text.bytes().get(..self.repeated).unwrap_or_default();
        let is_fastq = self.format == Some(Format::Fastq);
        RemoteChunk { is_fastq, in_line: self.resume && self.in_line, repeated }
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.text.bytes()
    }

    /// Skips a byte order mark at the beginning of the first chunk of an input.
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

    /// Frees the memory of a text of more than `usual` bytes. The text must not be needed any more.
    pub(crate) fn shrink(&mut self, usual: usize) {
        let most = self.text.buffer.len().max(self.reads.capacity());
        if most.max(self.alignments.capacity()) > usual {
            (self.text.buffer, self.reads) = (Vec::new(), Vec::new());
            self.alignments = AlignmentBytes::default();
            (self.text.start, self.text.end) = (0, 0);
        }
    }

    /// Replaces the text with the FASTQ that `write` makes from alignments, and adds the alignments that it skipped.
    pub(crate) fn write_reads<E>(
        &mut self,
        keep: &KeepAlignments,
        write: impl FnOnce(&mut Reads) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reads = Reads {
            text: std::mem::take(&mut self.reads),
            tags: keep.tags.clone(),
            which: keep.which,
            is_grouped: keep.header.get().is_some_and(AlignmentHeader::is_grouped),
            alignments: std::mem::take(&mut self.alignments),
            ..Reads::default()
        };
        reads.text.clear();
        reads.alignments.clear();
        let written = write(&mut reads);
        (self.alignments, self.is_ungrouped) = (reads.alignments, reads.is_ungrouped);
        self.skipped += reads.skipped;
        reads.mates.is_grouped = reads.is_grouped;
        self.mates = Some(reads.mates);
        self.reads = std::mem::replace(&mut self.text.buffer, reads.text);
        (self.text.start, self.text.end) = (0, self.text.buffer.len());
        self.of_alignments = true;
        written
    }
}

/// Returns the line of `text` that begins at `start`, without its line end, and the start of the next line.
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

/// Returns a header without leading blanks: some writers put a blank after `>` or `@`.
#[inline]
fn name_on(header: &[u8]) -> &[u8] {
    match header {
        [b' ' | b'\t', ..] => header.trim_ascii_start(),
        _ => header,
    }
}
