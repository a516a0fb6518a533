//! How to read.

use merganser_inflate::parallel::{Plan, Sizes};
use merganser_run::{Cancel, Warnings};

use crate::alignment::{Alignments, AnyFormats, Formats};
use crate::{Error, FileKind, Phred};

/// A record of so many bytes has room in what every run takes.
const LEAST_RECORD: u64 = 256 << 10;
/// The longest record where nobody says how much memory there is.
pub(crate) const USUAL_RECORD: usize = 256 << 20;
/// A header is never cut, so that one without an end (a file that is no text) would have to be
/// collected whole; beyond about this many bytes it is an error.
const MAX_HEADER: usize = 16 << 20;

/// The most bytes that a record may have, so that `copies` of it, which a job may hold at the same time
/// at the most, take no more than `memory`: what [`ReaderOptions::max_record`] and
/// [`RecordOptions::max_record`](crate::RecordOptions::max_record) should be. Never less than
/// 256 KiB, which a run has room for in any case.
pub fn longest_record(memory: u64, copies: u64) -> usize {
    usize::try_from((memory / copies.max(1)).max(LEAST_RECORD)).unwrap_or(usize::MAX)
}

/// Formats of alignments, and the bytes that they begin with; SAM mostly.
pub(super) const SAM: (FileKind, u8) = (FileKind::Sam, b'@');
pub(super) const BAM: (FileKind, u8) = (FileKind::Bam, b'B');
pub(super) const CRAM: (FileKind, u8) = (FileKind::Cram, b'C');

/// How a [`Reader`](crate::Reader) reads. The type says who reads alignments.
#[derive(Clone, Debug)]
pub struct ReaderOptions<F = AnyFormats> {
    /// About how many bytes of text a chunk has, at least 1. A worker's chunk takes a little more
    /// memory than that, twice as much for BGZF, and up to `max_record` more. A gzip
    /// file is inflated by all workers if there are at least 4: it is cut into ranges of a sixth
    /// of this size, and a chunk takes 9/4 of it as long as text is compressed to no less than a
    /// sixth, and never more than 17/4: where it is compressed to less than a twelfth, one worker
    /// inflates at a time.
    pub chunk_bytes: usize,
    /// How many bases are repeated where a FASTA sequence is cut between two chunks: k-1, so that
    /// no k-mer is lost or seen twice.
    pub overlap: usize,
    /// How many workers will call [`Reader::next_chunk`](crate::Reader::next_chunk), and so how
    /// many inputs may be open at the same time; at least 1.
    pub workers: usize,
    /// The most bytes of a record that cannot be cut: a FASTQ record, a line of SAM, a record of BAM,
    /// lines that belong together. One that is longer is an error as soon as so much of it has been
    /// read; a record that a chunk has room for is none. FASTA sequences of any length pass in pieces.
    /// [`longest_record`] gives it.
    pub max_record: usize,
    /// What qualities of FASTQ mean.
    pub phred: Phred,
    /// Ends the waiting for a pipe that keeps silent, with an error.
    pub cancel: Cancel,
    /// Where warnings about the inputs go.
    pub warnings: Warnings,
    /// The formats of alignments that are read.
    pub formats: F,
}

impl<F: Default> Default for ReaderOptions<F> {
    /// Chunks of 4 MiB, no overlap, one worker, records of up to 256 MiB.
    fn default() -> Self {
        Self {
            chunk_bytes: 4 << 20,
            overlap: 0,
            workers: 1,
            max_record: USUAL_RECORD,
            phred: Phred::default(),
            cancel: Cancel::default(),
            warnings: Warnings::default(),
            formats: F::default(),
        }
    }
}

impl<F: Formats> ReaderOptions<F> {
    /// The same options of whatever formats.
    pub(crate) fn of_any(self) -> ReaderOptions {
        ReaderOptions {
            chunk_bytes: self.chunk_bytes,
            overlap: self.overlap,
            workers: self.workers,
            max_record: self.max_record,
            phred: self.phred,
            cancel: self.cancel,
            warnings: self.warnings,
            formats: AnyFormats::of(&self.formats),
        }
    }
}

impl ReaderOptions {
    /// The reader of alignments.
    ///
    /// # Errors
    /// If files of alignments are refused, as the one named `input`, which is of this format.
    pub(super) fn alignments(
        &self,
        input: &str,
        (kind, byte): (FileKind, u8),
    ) -> Result<&'static dyn Alignments, Error> {
        let refused = || Error::UnknownFormat { input: input.to_owned(), kind: Some(kind), byte };
        self.formats.alignments().ok_or_else(refused)
    }

    /// The room to keep before a chunk's text for what the chunk before hands on. More is handed
    /// on only where records are that long, and then costs a copy.
    pub(super) fn headroom(&self) -> usize {
        self.chunk_bytes / 16
    }

    /// How much text of a gzip file is made at a time.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { text: self.chunk_bytes, headroom: self.headroom() }
    }

    /// How gzip files are cut into ranges, if that pays.
    pub(super) fn plan(&self) -> Option<Plan> {
        Plan::new(self.chunk_bytes, self.workers)
    }

    /// The most bytes of a header line of FASTA or FASTQ.
    pub(super) fn max_header(&self) -> usize {
        self.max_record.min(MAX_HEADER)
    }

    /// The most bytes of a BAM file's header, which names all references.
    pub(super) fn max_bam_header(&self) -> usize {
        self.max_record.max(MAX_HEADER)
    }
}
