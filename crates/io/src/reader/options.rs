//! The options of readers.

use std::sync::Arc;

use merganser_inflate::InflateAhead;
use merganser_inflate::parallel::{Plan, Sizes};
use merganser_run::{Cancel, Warnings};

use crate::alignment::{Alignments, AnyFormats, Formats, KeepAlignments, WhichAlignments};
use crate::{Error, FileKind, Phred};

/// The size of a record, in bytes, for which every run has enough memory.
const MIN_RECORD: u64 = 256 << 10;
/// The maximum size of a record, in bytes, if no memory limit is known.
pub(crate) const USUAL_RECORD: usize = 256 << 20;
/// The maximum size of a header line in bytes. A header is never cut, so a header without an end (in a file that is
/// not text) would have to be collected whole.
const MAX_HEADER: usize = 16 << 20;

/// Returns the maximum size of a record in bytes, such that `copies` copies, the most that a job holds at the same
/// time, fit in `memory`. It is the value for [`ReaderOptions::max_record`] and
/// [`RecordOptions::max_record`](crate::RecordOptions::max_record). It is at least 256 KiB, for which every run has
/// enough memory.
pub fn longest_record(memory: u64, copies: u64) -> usize {
    usize::try_from((memory / copies.max(1)).max(MIN_RECORD)).unwrap_or(usize::MAX)
}

/// The formats of alignments, with the first bytes of their files (for SAM, the usual one).
pub(super) const SAM: (FileKind, u8) = (FileKind::Sam, b'@');
pub(super) const BAM: (FileKind, u8) = (FileKind::Bam, b'B');
pub(super) const CRAM: (FileKind, u8) = (FileKind::Cram, b'C');

/// The options of a [`Reader`](crate::Reader). The type parameter names the reader of alignments.
#[derive(Clone, Debug)]
pub struct ReaderOptions<F = AnyFormats> {
    /// The approximate number of bytes of text in a chunk, at least 1. A worker's chunk takes a little more memory,
    /// twice as much for BGZF, and up to `max_record` more.
    ///
    /// A gzip file is inflated by all workers if there are at least 4. It is then cut into ranges of a sixth of
    /// this size. A chunk takes 9/4 of this size if text is compressed at most sixfold, and never more than 17/4:
    /// where text is compressed more than twelvefold, only one worker inflates at a time.
    pub chunk_bytes: usize,
    /// The number of bases that are repeated where a FASTA sequence is cut between two chunks. With k-1 bases, no
    /// k-mer is lost or seen twice.
    pub overlap: usize,
    /// The number of workers that will call [`Reader::next_chunk`](crate::Reader::next_chunk), at least 1. It is
    /// also the maximum number of inputs that are open at the same time.
    pub workers: usize,
    /// The maximum size in bytes of a record that cannot be cut: a FASTQ record, a SAM line, a BAM record, or a
    /// group of lines that belong together. A longer one is an error as soon as this many bytes of it have been
    /// read, unless it fits in a chunk. FASTA sequences of any length are read in pieces. [`longest_record`]
    /// computes the value.
    pub max_record: usize,
    /// The encoding of FASTQ qualities.
    pub phred: Phred,
    /// The cancellation that ends waiting for a silent pipe, with an error.
    pub cancel: Cancel,
    /// The list to which warnings about the inputs are added.
    pub warnings: Warnings,
    /// The alignments that are kept beside their reads.
    pub keep_alignments: KeepAlignments,
    /// The inflater of BGZF files that works ahead of the reader, if there is one.
    pub inflater: Option<Arc<dyn InflateAhead>>,
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
            keep_alignments: KeepAlignments::default(),
            inflater: None,
            formats: F::default(),
        }
    }
}

impl<F: Formats> ReaderOptions<F> {
    /// Converts the options to the type-erased formats.
    pub(crate) fn of_any(self) -> ReaderOptions {
        ReaderOptions {
            chunk_bytes: self.chunk_bytes,
            overlap: self.overlap,
            workers: self.workers,
            max_record: self.max_record,
            phred: self.phred,
            cancel: self.cancel,
            warnings: self.warnings,
            keep_alignments: self.keep_alignments,
            inflater: self.inflater,
            formats: AnyFormats::of(&self.formats),
        }
    }
}

impl ReaderOptions {
    /// Returns the reader of alignments.
    ///
    /// # Errors
    /// If alignment files are rejected: the error names `input` and its format.
    pub(super) fn alignments(
        &self,
        input: &str,
        (kind, byte): (FileKind, u8),
    ) -> Result<&'static dyn Alignments, Error> {
        let refused = || Error::UnknownFormat { input: input.to_owned(), kind: Some(kind), byte };
        self.formats.alignments().ok_or_else(refused)
    }

    /// Whether chunks of alignments must end between templates.
    pub(super) fn cuts_between_templates(&self) -> bool {
        self.keep_alignments.which == WhichAlignments::OfTemplates
    }

    /// Whether the header of a file of alignments is to be kept and is not yet known.
    pub(super) fn wants_header(&self) -> bool {
        let KeepAlignments { which, header, headers, .. } = &self.keep_alignments;
        (*which != WhichAlignments::None || headers.is_some()) && header.get().is_none()
    }

    /// Returns the size of the free space before a chunk's text for the rest of the previous chunk. A larger rest
    /// occurs only with long records and costs a copy.
    pub(super) fn headroom(&self) -> usize {
        self.chunk_bytes / 16
    }

    /// Returns the sizes of the pieces in which gzip files are inflated.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { text: self.chunk_bytes, headroom: self.headroom() }
    }

    /// Returns the plan for cutting gzip files into ranges, if that is worthwhile.
    pub(super) fn plan(&self) -> Option<Plan> {
        Plan::new(self.chunk_bytes, self.workers)
    }

    /// Returns the maximum size of a FASTA or FASTQ header line in bytes.
    pub(super) fn max_header(&self) -> usize {
        self.max_record.min(MAX_HEADER)
    }

    /// Returns the maximum size of a BAM header in bytes. It names all references.
    pub(super) fn max_bam_header(&self) -> usize {
        self.max_record.max(MAX_HEADER)
    }
}
