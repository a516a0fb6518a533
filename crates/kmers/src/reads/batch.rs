//! Batches of reads, which are compared with a table.

use std::ops::Range;

use merganser_alignments::{RecordOptions, TemplatePass};
use merganser_io::{
    Header, Keep, Needs, Output, ReadInput, Record, RecordBatch, Records, Stretch, WhichAlignments,
    check_letters,
};

use merganser_run::engine::Source;
use merganser_seq::base::Homopolymers;

use super::Job;
use super::mates::Enough;
use super::pass::{self, PassJob};
use crate::Error;
use crate::error::bad;
use crate::lookup::Lookup;

/// The largest number of records in a batch, and of bytes of headers, letters and qualities: large enough to
/// make the cost of distributing batches negligible.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = 1 << 20;
/// The memory of a worker in bytes: batches that it reads or that wait for their mates, and texts that wait to
/// be written.
pub(super) const WORKER_BYTES: u64 = 16 * BATCH_BYTES as u64;

/// The number of letters in a stretch, if a sequence is read in several stretches.
const STRETCH_LETTERS: usize = 512 << 10;
/// The number of copies of a record that can be in memory at the same time: the record as it was read (briefly
/// twice), its letters, their counts of 4 bytes each, and the output for it. Half of a record with qualities is
/// letters.
const COPIES: u64 = 8;

/// The progress stage of filters.
pub(super) const FILTERING: &str = "filtering";

/// Code that turns reads and the counts of their k-mers into output.
pub(super) trait OfReads: Sync {
    type Tally: Default + Send;

    /// Returns the number of texts: see [`PassJob::texts`].
    fn texts(&self) -> usize;

    /// Whether sequences without qualities may come in stretches that overlap by k-1 letters.
    fn takes_stretches(&self) -> bool {
        false
    }

    /// Whether mates may have any names, if reads can be pairs; `None` if they cannot.
    fn any_names(&self) -> Option<bool> {
        None
    }

    /// Returns the number of copies of a record beyond the usual ones.
    fn more_copies(&self) -> u64 {
        0
    }

    /// Returns what is done with the alignments of the reads, if they may be written or collected.
    fn pass(&self) -> Option<&TemplatePass<'_>> {
        None
    }

    /// Compresses the texts of a batch, if they are written compressed: see [`PassJob::compress`].
    ///
    /// # Errors
    /// If compression fails.
    fn compress(&self, texts: &mut [Vec<u8>]) -> Result<(), Error> {
        let _ = texts;
        Ok(())
    }

    /// Writes or changes the texts of a batch: see [`PassJob::settle`].
    ///
    /// # Errors
    /// If an output cannot be written.
    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        let _ = (texts, outputs);
        Ok(())
    }

    /// Returns the number of hits after which further hits do not change the output for a read or pair; `None`
    /// if there is no such number.
    fn enough_hits(&self) -> Option<Enough> {
        None
    }

    /// Processes a read or the two reads of a pair; appends to the text of each output.
    ///
    /// # Errors
    /// If a read cannot be written, or there is no memory to collect its name.
    fn unit(
        &self,
        reads: &mut [Read<'_>],
        texts: &mut [Vec<u8>],
        tally: &mut Self::Tally,
    ) -> Result<(), Error>;
}

/// The distance of the k-mers that are looked up first, in letters, if a number of hits is enough.
const SAMPLED: usize = 8;

/// A read and the counts of its k-mers.
pub(super) struct Read<'r> {
    pub(super) record: Record<'r>,
    /// The batch of the record, and its index.
    pub(super) origin: (&'r RecordBatch, usize),
    /// The stretch of the sequence that this is; `None` for a whole sequence.
    pub(super) stretch: Option<Stretch>,
    /// The counts of the k-mers of the read, or of the homopolymer-compressed read if the job requires that;
    /// [`Lookup::width`] counts for each k-mer.
    pub(super) counts: &'r mut [u32],
}

/// The results of all reads.
pub(super) struct Done<T> {
    /// The results of each worker.
    pub(super) tallies: Vec<T>,
    /// The number of alignments that were skipped.
    pub(super) skipped: u64,
}

/// Processes all reads of `segments` with `work`, and writes the output in the order of the reads.
///
/// # Errors
/// The first error in the order of the input. The output for reads before it has been written.
pub(super) fn run<W: OfReads>(
    job: Job<'_>,
    work: &W,
    segments: &[ReadInput],
    stage: &'static str,
    outputs: &mut [Output],
) -> Result<Done<W::Tally>, Error> {
    let Job { lookup, context, .. } = job;
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let threads = job.context.threads;
    let keep_alignments = work.pass().map(|pass| pass.keep().clone()).unwrap_or_default();
    let looked_up = match keep_alignments.which {
        // Short reads in FASTQ take five bytes for two letters.
        WhichAlignments::None if !lookup.takes_all_threads() => lookup.letters_at_once() * 5 / 2,
        // Compressed blocks of alignments end where batches do, which must not depend on the look-up.
        _ => 0,
    };
    let options = RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: looked_up.max(BATCH_BYTES),
        workers: threads,
        max_record: merganser_io::longest_record(job.record_bytes, COPIES + work.more_copies()),
        // In a compressed read, it is unknown how far back k-1 bases reach.
        stretches: (work.takes_stretches() && !job.homopolymer_compressed)
            .then(|| (STRETCH_LETTERS, lookup.k() - 1)),
        any_names: work.any_names().unwrap_or(false),
        find_pairs: work.any_names().is_some(),
        keep_alignments,
        needs: (!job.homopolymer_compressed).then(|| Needs { bases: lookup.k(), uracil: true }),
        cancel: cancel.clone(),
        warnings: job.context.warnings.clone(),
        ..RecordOptions::default()
    };
    let records = Records::open(segments, options)?;
    progress.stage(stage, merganser_run::Unit::Bytes, records.bytes_total());
    let compressed = job.homopolymer_compressed;
    let reads = Reads { records, k: lookup.k(), width: lookup.width(), compressed, work };
    let tallies = pass::run(job, &reads, outputs)?;
    let skipped = reads.records.skipped_alignments();
    Ok(Done { tallies, skipped: work.pass().map_or(skipped, |pass| pass.skipped(skipped)) })
}

struct Reads<'w, W> {
    records: Records,
    k: usize,
    /// The number of counts for each k-mer.
    width: usize,
    compressed: bool,
    work: &'w W,
}

impl<W> Reads<'_, W> {
    /// Returns the number of letters of a record that are looked up, including the separator.
    fn taken(&self, record: Record<'_>) -> usize {
        match self.compressed {
            false => record.letters.len() + 1,
            true => Homopolymers::compressed(record.letters).count() + 1,
        }
    }

    /// Appends the letters of a record and the separator.
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
        if let Some(pass) = self.work.pass() {
            pass.check(batch)?;
        }
        // If mates are out of step, the mates before the error are in the batch.
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

    fn compress(&self, texts: &mut [Vec<u8>]) -> Result<(), Error> {
        self.work.compress(texts)
    }

    fn copy(batch: &RecordBatch) -> RecordBatch {
        let mut copy = RecordBatch::default();
        copy.copy_from(batch);
        copy
    }

    fn items(batch: &RecordBatch) -> usize {
        batch.reads()
    }

    /// Returns the number of letters of all records, including their separators.
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
        // The letters of the reads that need all hits, and their positions among all letters.
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
            // All mates must be visited, since the iterator advances `begin`.
            let hits: Vec<u64> = hits.collect();
            if !enough.are(hits.into_iter()) {
                places.push(start..begin);
                open.extend_from_slice(&letters[start..begin]);
            }
        }
        let mut found = Vec::new();
        lookup.counts(&open, 1, &mut found)?;
        // The other reads are decided, so all their k-mers may count as hits.
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
    ) -> Result<(), Error> {
        let mut left = counts;
        let mut next = |at| {
            let record = batch.record(at);
            let places = self.taken(record);
            let (own, rest) = std::mem::take(&mut left).split_at_mut(places * self.width);
            left = rest;
            let (origin, stretch) = ((batch, at), batch.stretch());
            let kmers = places.saturating_sub(self.k);
            Read { record, origin, stretch, counts: &mut own[..kmers * self.width] }
        };
        for read in reads {
            match batch.is_paired() {
                false => self.work.unit(&mut [next(read)], texts, tally)?,
                true => {
                    let mut pair = [next(2 * read), next(2 * read + 1)];
                    self.work.unit(&mut pair, texts, tally)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that sequences are text.
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
