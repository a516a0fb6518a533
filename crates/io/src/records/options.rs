//! The options for reading records.

use std::ops::Range;
use std::sync::Arc;

use merganser_inflate::InflateAhead;
use merganser_run::{Cancel, Warnings};

use super::long;
use super::{Header, Keep, Needs};
use crate::Phred;
use crate::alignment::{AnyFormats, Formats, KeepAlignments};
use crate::reader::USUAL_RECORD;

/// The options of [`Records`](super::Records). The type parameter names the reader of alignments.
#[derive(Clone, Debug)]
pub struct RecordOptions<F = AnyFormats> {
    /// The parts of each record that are kept.
    pub keep: Keep,
    /// The number of records that fill a batch, at least 1; mates count separately. A pair is never split.
    pub batch_records: usize,
    /// The number of kept bytes that fill a batch.
    pub batch_bytes: usize,
    /// The approximate number of bytes of text that a worker parses at a time. The batches do not depend on it.
    pub chunk_bytes: usize,
    /// The number of workers that will call [`Records::next`](super::Records::next).
    pub workers: usize,
    /// The maximum size of a record in bytes: in FASTA, its name and letters; in other formats, its size in the
    /// file. A longer record is an error as soon as this many bytes of it have been read.
    ///
    /// Compute it with [`longest_record`](crate::longest_record) from the memory and the number of copies of a
    /// record that the job makes. Two of the copies are made here: records of more than two chunks are returned one
    /// at a time.
    pub max_record: usize,
    /// The number of letters of a stretch, and the number of letters that a stretch repeats from the previous one.
    /// If set, FASTA sequences of any length are returned in stretches, each in its own batch. It requires single
    /// reads.
    pub stretches: Option<(usize, usize)>,
    /// The reads that are returned, by their number in all segments from 0; a pair counts as one. Reads before the
    /// range are read and skipped.
    ///
    /// A batch ends where the range begins. If one of the batches of all reads begins there, too, the
    /// following batches are the same as without a range. It cannot be combined with `stretches`.
    pub reads: Range<u64>,
    /// Whether mates are paired by their position, and their names are not compared.
    pub any_names: bool,
    /// Whether single reads may turn out to be pairs: adjacent alignments whose flags say that they are mates
    /// become pairs. Mates that lie apart are an [error](crate::Error::MatesApart), unless the header says that the file is
    /// grouped by name, so that they have no mate; if alignments are [kept](Self::keep_alignments), they are single reads,
    /// with a warning. There is a warning, too, if other reads seem to be mates.
    pub find_pairs: bool,
    /// Whether the two files of a pair are compared with each other and are not mates: names and repeated files are
    /// not checked.
    pub unrelated: bool,
    /// Whether workers request batches while they hold other batches that they cannot finish before. Several long
    /// records may then be in use at the same time.
    pub overlapping: bool,
    /// The encoding of FASTQ qualities.
    pub phred: Phred,
    /// The requirements of the job on a read: there is a warning if the first reads of a file do not meet them.
    pub needs: Option<Needs>,
    /// The cancellation that ends waiting for a silent pipe.
    pub cancel: Cancel,
    /// The list to which warnings about the inputs are added.
    pub warnings: Warnings,
    /// The alignments that are kept beside their reads: [`RecordBatch::alignments`](super::RecordBatch::alignments).
    /// They require that qualities are kept.
    pub keep_alignments: KeepAlignments,
    /// The inflater of BGZF files that works ahead of the workers, if there is one.
    pub inflater: Option<Arc<dyn InflateAhead>>,
    /// The formats of alignments that are read.
    pub formats: F,
}

impl<F: Default> Default for RecordOptions<F> {
    /// Names and letters, batches of 8,192 records or 1 MiB, one worker.
    fn default() -> Self {
        Self {
            keep: Keep::default(),
            batch_records: 8192,
            batch_bytes: 1 << 20,
            chunk_bytes: 1 << 20,
            workers: 1,
            max_record: USUAL_RECORD,
            stretches: None,
            reads: 0..u64::MAX,
            any_names: false,
            find_pairs: false,
            unrelated: false,
            overlapping: false,
            phred: Phred::default(),
            needs: None,
            cancel: Cancel::default(),
            warnings: Warnings::default(),
            keep_alignments: KeepAlignments::default(),
            inflater: None,
            formats: F::default(),
        }
    }
}

impl<F: Formats + Default> RecordOptions<F> {
    /// Returns the default options, with whole headers and with qualities.
    pub fn whole() -> Self {
        let keep = Keep { header: Header::Whole, qualities: true };
        Self { keep, ..Self::default() }
    }

    /// Returns the options for a look at the header and the first records of an input, before a run whose memory decides
    /// how long a record may be: whole headers and qualities, batches of two records (a pair) of at most 16 MiB each.
    pub fn beginning() -> Self {
        Self { batch_records: 2, max_record: 16 << 20, ..Self::whole() }
    }
}

impl<F: Formats> RecordOptions<F> {
    /// Converts the options to the type-erased formats.
    pub(super) fn of_any(self) -> RecordOptions {
        RecordOptions {
            keep: self.keep,
            batch_records: self.batch_records,
            batch_bytes: self.batch_bytes,
            chunk_bytes: self.chunk_bytes,
            workers: self.workers,
            max_record: self.max_record,
            stretches: self.stretches,
            reads: self.reads,
            any_names: self.any_names,
            find_pairs: self.find_pairs,
            unrelated: self.unrelated,
            overlapping: self.overlapping,
            phred: self.phred,
            needs: self.needs,
            cancel: self.cancel,
            warnings: self.warnings,
            keep_alignments: self.keep_alignments,
            inflater: self.inflater,
            formats: AnyFormats::of(&self.formats),
        }
    }
}

impl RecordOptions {
    /// Returns the maximum size in bytes of a batch without a long record.
    pub(super) fn usual_bytes(&self) -> usize {
        self.batch_bytes + 2 * long::CHUNKS * self.chunk_bytes
    }

    /// Returns the maximum number of records of a batch that begins with read `first`: it must not extend beyond
    /// the beginning or the end of the requested reads.
    pub(super) fn max_records(&self, first: u64, mates: usize) -> usize {
        let border = if first < self.reads.start { self.reads.start } else { self.reads.end };
        let left = usize::try_from(border - first).unwrap_or(usize::MAX).saturating_mul(mates);
        self.batch_records.min(left)
    }
}
