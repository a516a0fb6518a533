//! How records are read.

use std::ops::Range;

use merganser_run::{Cancel, Warnings};

use super::long;
use super::{Keep, Needs};
use crate::Phred;
use crate::alignment::{AnyFormats, Formats};
use crate::reader::USUAL_RECORD;

/// How [`Records`](super::Records) are read. The type says who reads alignments.
#[derive(Clone, Debug)]
pub struct RecordOptions<F = AnyFormats> {
    /// What is kept.
    pub keep: Keep,
    /// A batch is full with so many records (mates count one each; at least 1)
    pub batch_records: usize,
    /// or so many bytes of what is kept. A pair is never cut.
    pub batch_bytes: usize,
    /// About how many bytes of text a worker parses at a time. No batch depends on it.
    pub chunk_bytes: usize,
    /// How many workers will call [`Records::next`](super::Records::next).
    pub workers: usize,
    /// The most bytes of a record: of FASTA its name and letters, of other formats as the file has it.
    /// One that is longer is an error as soon as so much of it has been read. With
    /// [`longest_record`](crate::longest_record) of the memory and the copies that a job makes of a
    /// record, two of which are made here: records of more than two chunks come one at a time.
    pub max_record: usize,
    /// FASTA sequences of any length come in stretches of so many letters, each in a batch of its own,
    /// which repeat as many letters of the one before as the second number says. For single reads.
    pub stretches: Option<(usize, usize)>,
    /// The reads that are handed out, by their number in all segments from 0; a pair is one. A batch ends
    /// where they begin, so that the batches behind are those of all reads if one of these begins there;
    /// what comes before is read, but not looked at. Not with `stretches`.
    pub reads: Range<u64>,
    /// Names of mates are not compared: records are mates by their place.
    pub any_names: bool,
    /// Single reads may be pairs: alignments whose flags say that they are mates, and that lie side by
    /// side, become pairs, and warnings say where other reads seem to be.
    pub find_pairs: bool,
    /// The files of a pair are compared with each other, and are no mates: nothing is said of names, nor
    /// of files that are given twice.
    pub unrelated: bool,
    /// Workers ask for batches while they have others that they cannot finish before: then several long
    /// records may be under way.
    pub overlapping: bool,
    /// What qualities of FASTQ mean.
    pub phred: Phred,
    /// What the job needs of a read: a warning says if the first reads of a file are nothing to it.
    pub needs: Option<Needs>,
    /// Ends the waiting for a pipe that keeps silent.
    pub cancel: Cancel,
    /// Where warnings about the inputs go.
    pub warnings: Warnings,
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
            formats: F::default(),
        }
    }
}

impl<F: Formats> RecordOptions<F> {
    /// The same options of whatever formats.
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
            formats: AnyFormats::of(&self.formats),
        }
    }
}

impl RecordOptions {
    /// Bytes of a batch without a long record, at the most.
    pub(super) fn usual_bytes(&self) -> usize {
        self.batch_bytes + 2 * long::CHUNKS * self.chunk_bytes
    }

    /// The most records of a batch that begins with read `first`: it does not go beyond where the wanted
    /// reads begin or end.
    pub(super) fn max_records(&self, first: u64, mates: usize) -> usize {
        let border = if first < self.reads.start { self.reads.start } else { self.reads.end };
        let left = usize::try_from(border - first).unwrap_or(usize::MAX).saturating_mul(mates);
        self.batch_records.min(left)
    }
}
