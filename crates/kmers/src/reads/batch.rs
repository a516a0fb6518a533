//! Batches of reads, held against a table.

use std::ops::Range;

use merganser_alignments::RecordOptions;
use merganser_io::{
    Header, Keep, Needs, Output, ReadInput, Record, RecordBatch, Records, Stretch, check_letters,
};

use merganser_run::engine::Source;
use merganser_seq::base::Homopolymers;

use super::Job;
use super::mates::Enough;
use super::pass::{self, PassJob};
use crate::Error;
use crate::error::bad;
use crate::lookup::Lookup;

/// A batch is full with so many records, or with so many bytes of headers, letters and qualities:
/// enough that taking turns costs nothing.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = 1 << 20;
/// Memory of a worker: batches that it reads, or that wait for their mates, and texts that wait.
pub(super) const WORKER_BYTES: u64 = 16 * BATCH_BYTES as u64;

/// Letters of a stretch of a sequence that is taken in several.
const STRETCH_LETTERS: usize = 512 << 10;
/// How often a record is there at the same time, at most: as it was read (twice for a moment), its
/// letters, their counts of 4 bytes each, and what is written of it. Of reads with qualities half of it
/// is letters.
const COPIES: u64 = 8;

/// What is made of reads and the counts of their k-mers.
pub(super) trait OfReads: Sync {
    type Tally: Default + Send;

    /// As [`PassJob::texts`].
    fn texts(&self) -> usize;

    /// Whether sequences without qualities may come in stretches that overlap by k-1 letters.
    fn takes_stretches(&self) -> bool {
        false
    }

    /// Of reads that may be pairs, whether the names of mates may be any.
    fn any_names(&self) -> Option<bool> {
        None
    }

    /// How many more copies of a record there may be than usual.
    fn more_copies(&self) -> u64 {
        0
    }

    /// As [`PassJob::settle`].
    ///
    /// # Errors
    /// If something cannot be written.
    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        let _ = (texts, outputs);
        Ok(())
    }

    /// How many hits among some of the k-mers of a read, or of the two of a pair, tell that the same is made of them as
    /// if all were hits; `None` if that never tells.
    fn enough_hits(&self) -> Option<Enough> {
        None
    }

    /// Takes a read, or the two of a pair; appends to the text of each output.
    fn unit(&self, reads: &mut [Read<'_>], texts: &mut [Vec<u8>], tally: &mut Self::Tally);
}

/// Where some hits are enough, the k-mers that begin at one of so many letters are looked up first.
const SAMPLED: usize = 8;

/// A read and the counts of its k-mers.
pub(super) struct Read<'r> {
    pub(super) record: Record<'r>,
    /// What of it this is, if not all.
    pub(super) stretch: Option<Stretch>,
    /// Those of the homopolymer-compressed read, if the job asks for that.
    pub(super) counts: &'r mut [u32],
}

/// What came of all reads.
pub(super) struct Done<T> {
    /// What the workers found.
    pub(super) tallies: Vec<T>,
    /// Alignments that were passed over.
    pub(super) skipped: u64,
}

/// Takes all reads of `segments` through `work`, and writes what it makes of them in their order.
///
/// # Errors
/// The first in the input. What was made before it stands.
pub(super) fn run<W: OfReads>(
    job: Job<'_>,
    work: &W,
    segments: &[ReadInput],
    stage: &'static str,
    outputs: &mut [Output],
) -> Result<Done<W::Tally>, Error> {
    let Job { lookup, progress, cancel, .. } = job;
    let threads = job.resources.threads;
    // FASTQ of short reads has five bytes for two letters.
    let looked_up = if lookup.takes_all_threads() { 0 } else { lookup.letters_at_once() * 5 / 2 };
    let options = RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: looked_up.max(BATCH_BYTES),
        workers: threads,
        max_record: merganser_io::longest_record(job.record_bytes, COPIES + work.more_copies()),
        // Of a run of one base nobody knows how far it goes back.
        stretches: (work.takes_stretches() && !job.homopolymer_compressed)
            .then(|| (STRETCH_LETTERS, lookup.k() - 1)),
        any_names: work.any_names().unwrap_or(false),
        find_pairs: work.any_names().is_some(),
        needs: (!job.homopolymer_compressed).then(|| Needs { bases: lookup.k(), uracil: true }),
        cancel: cancel.clone(),
        warnings: job.resources.warnings.clone(),
        ..RecordOptions::default()
    };
    let records = Records::open(segments, options)?;
    progress.stage(stage, merganser_run::Unit::Bytes, records.bytes_total());
    let compressed = job.homopolymer_compressed;
    let reads = Reads { records, k: lookup.k(), compressed, work };
    let tallies = pass::run(job, &reads, outputs)?;
    Ok(Done { tallies, skipped: reads.records.skipped_alignments() })
}

struct Reads<'w, W> {
    records: Records,
    k: usize,
    compressed: bool,
    work: &'w W,
}

impl<W> Reads<'_, W> {
    /// Letters of a record that are looked up, and an end.
    fn taken(&self, record: Record<'_>) -> usize {
        match self.compressed {
            false => record.letters.len() + 1,
            true => Homopolymers::compressed(record.letters).count() + 1,
        }
    }

    /// Appends them.
    fn append(&self, record: Record<'_>, letters: &mut Vec<u8>) {
        match self.compressed {
            false => letters.extend_from_slice(record.letters),
            true => letters.extend(Homopolymers::compressed(record.letters)),
        }
        letters.push(b'\n');
    }
}

impl<W: OfReads> Source for Reads<'_, W> {
    type Batch = RecordBatch;
    type Error = Error;

    fn next(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        let filled = self.records.next(batch).map_err(Error::from);
        // With mates out of step, those before them are there.
        check(batch).and(filled)
    }

    fn number(batch: &RecordBatch) -> u64 {
        batch.number()
    }

    fn is_long(&self, batch: &RecordBatch) -> bool {
        batch.is_long()
    }

    fn stop(&self, _number: u64) {
        self.records.stop();
    }
}

impl<W: OfReads> PassJob for Reads<'_, W> {
    type Tally = W::Tally;

    fn texts(&self) -> usize {
        self.work.texts()
    }

    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        self.work.settle(texts, outputs)
    }

    fn copy(batch: &RecordBatch) -> RecordBatch {
        let mut copy = RecordBatch::default();
        copy.copy_from(batch);
        copy
    }

    fn items(batch: &RecordBatch) -> usize {
        batch.reads()
    }

    /// Those of each record, and an end.
    fn letters(&self, batch: &RecordBatch) -> usize {
        (0..batch.len()).map(|at| self.taken(batch.record(at))).sum()
    }

    fn join(&self, batch: &RecordBatch, from: usize, most: usize, letters: &mut Vec<u8>) -> usize {
        let mates = batch.mates();
        let mut read = from;
        while read < batch.reads() && letters.len() < most {
            for mate in 0..mates {
                self.append(batch.record(read * mates + mate), letters);
            }
            read += 1;
        }
        read
    }

    fn counts(
        &self,
        batch: &RecordBatch,
        reads: Range<usize>,
        letters: &[u8],
        lookup: &dyn Lookup,
        counts: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Some(enough) = self.work.enough_hits() else {
            return lookup.counts(letters, 1, counts);
        };
        lookup.counts(letters, SAMPLED, counts)?;
        // The letters of the reads of which these do not tell, and where each lies among all letters.
        let (mut open, mut places) = (Vec::new(), Vec::new());
        let mut begin = 0;
        for read in reads {
            let start = begin;
            let hits = (0..batch.mates()).map(|mate| {
                let from = begin;
                begin += self.taken(batch.record(read * batch.mates() + mate));
                let own =
                    &counts[from.div_ceil(SAMPLED)..begin.div_ceil(SAMPLED).min(counts.len())];
                own.iter().filter(|&&count| count > 0).count() as u64
            });
            // All of them, as each goes on.
            let hits: Vec<u64> = hits.collect();
            if !enough.are(hits.into_iter()) {
                places.push(start..begin);
                open.extend_from_slice(&letters[start..begin]);
            }
        }
        let mut found = Vec::new();
        lookup.counts(&open, 1, &mut found)?;
        // What is decided is as if all were hits.
        counts.clear();
        counts.resize(letters.len(), 1);
        let mut left = &found[..];
        for place in places {
            let (own, rest) = left.split_at(place.len());
            counts[place].copy_from_slice(own);
            left = rest;
        }
        Ok(())
    }

    fn make(
        &self,
        batch: &RecordBatch,
        reads: Range<usize>,
        counts: &mut [u32],
        texts: &mut [Vec<u8>],
        tally: &mut W::Tally,
    ) {
        let mut left = counts;
        let mut next = |at| {
            let record = batch.record(at);
            let places = self.taken(record);
            let (own, rest) = std::mem::take(&mut left).split_at_mut(places);
            left = rest;
            let stretch = batch.stretch();
            Read { record, stretch, counts: &mut own[..places.saturating_sub(self.k)] }
        };
        for read in reads {
            match batch.is_paired() {
                false => self.work.unit(&mut [next(read)], texts, tally),
                true => {
                    let mut pair = [next(2 * read), next(2 * read + 1)];
                    self.work.unit(&mut pair, texts, tally);
                }
            }
        }
    }
}

/// Sees to it that sequences are text.
fn check(batch: &RecordBatch) -> Result<(), Error> {
    for at in 0..batch.len() {
        let letters = batch.record(at).letters;
        if let Some(place) = check_letters(letters) {
            let (file, record) = batch.place(at);
            let byte = letters[place];
            let reason = format!(
                "record {record}: binary data (byte 0x{byte:02x}) in its sequence; is the file damaged?"
            );
            return Err(bad(file.as_ref(), reason));
        }
    }
    Ok(())
}
