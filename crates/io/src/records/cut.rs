//! Cutting of batches from the chunks of a segment.

use std::sync::Arc;

use merganser_run::thousands;

use super::side::{Parsed, Side};
use super::text::{Piece, Pieces, Slice, Text};
use super::{ReadInput, RecordBatch, RecordFile, RecordOptions};
use crate::alignment::WhichAlignments;
use crate::{Error, Reader, ReaderOptions};

/// The next step of a worker.
pub(super) enum Cut {
    /// These records are a batch.
    Batch(Pieces),
    /// A chunk of this file is needed.
    Fetch { file: Arc<RecordFile>, side: usize },
    /// Other workers are fetching the data that are needed.
    Wait,
    /// The segment has no more records.
    End,
}

/// A segment that is being read.
pub(super) struct Open {
    files: Vec<Arc<RecordFile>>,
    sides: Vec<Side>,
    /// The number of records of a read: 1, or 2 for pairs. If `find_pairs` is set, it changes from batch to batch.
    mates: usize,
    /// Whether alignments decide which reads are pairs.
    find_pairs: bool,
    pending: Pending,
    /// The number of records of each file that were put into batches, including the pending one.
    taken: u64,
    /// The number of reads in batches that were returned.
    handed: u64,
}

/// The beginning of the next batch.
#[derive(Default)]
struct Pending {
    pieces: Pieces,
    records: usize,
    bytes: usize,
}

impl Open {
    /// Opens the files of a segment, which has this number.
    pub(super) fn new(
        segment: &ReadInput,
        number: usize,
        options: &RecordOptions,
    ) -> Result<Open, Error> {
        let find_pairs = options.find_pairs && !segment.is_paired();
        let mut keep = options.keep_alignments.clone();
        if find_pairs && keep.which == WhichAlignments::None {
            // The header says whether a mate that is not beside its mate has none.
            keep.headers.get_or_insert_default();
        }
        let files = segment.inputs().map(|input| {
            let name = Arc::from(input.to_string());
            let options = ReaderOptions {
                chunk_bytes: options.chunk_bytes,
                workers: options.workers,
                overlap: 0,
                max_record: options.max_record,
                phred: options.phred,
                cancel: options.cancel.clone(),
                warnings: options.warnings.clone(),
                keep_alignments: keep.of_file(number, &name),
                inflater: options.inflater.clone(),
                formats: options.formats,
            };
            let reader = Reader::open(std::slice::from_ref(input), options)?;
            Ok(Arc::new(RecordFile { reader, name }))
        });
        let files = files.collect::<Result<Vec<_>, Error>>()?;
        // A chunk for each worker, and one that waits for it.
        let most = 2 * options.workers + 2;
        let side =
            |file: &Arc<RecordFile>| Side::new(Arc::clone(&file.name), options, most, find_pairs);
        Ok(Open {
            sides: files.iter().map(side).collect(),
            files,
            mates: 1 + usize::from(segment.is_paired()),
            find_pairs,
            pending: Pending::default(),
            taken: 0,
            handed: 0,
        })
    }

    pub(super) fn stop(&self) {
        self.files.iter().for_each(|file| file.reader.stop());
    }

    /// Returns the number of alignments that were skipped so far.
    pub(super) fn skipped(&self) -> u64 {
        self.files.iter().map(|file| file.reader.skipped_alignments()).sum()
    }

    pub(super) fn deliver(&mut self, side: usize, parsed: Parsed, text: Text) {
        self.sides[side].deliver(parsed, text);
    }

    /// Cuts the next batch, which begins with read `first`, from the heads of the queues, if they have enough
    /// records. Without `room`, nothing is fetched, and no batch with a long record is cut: such a record may have
    /// been fetched before `room` was taken.
    ///
    /// # Errors
    /// If there is a problem with the record after those of all batches.
    pub(super) fn cut(
        &mut self,
        options: &RecordOptions,
        first: u64,
        room: bool,
    ) -> Result<Cut, Error> {
        if self.fill(options, first) {
            if !room && self.pending.pieces.bytes() > options.usual_bytes() {
                return Ok(Cut::Wait);
            }
            return Ok(Cut::Batch(std::mem::take(&mut self.pending).pieces));
        }
        let starved = |side: &Side| side.head().is_none() && side.is_over();
        if !self.sides.iter().any(starved) {
            return Ok(self.fetch(room));
        }
        if self.pending.records >= self.mates {
            // A mate without its partner is an error, which the next cut reports.
            if !self.pending.records.is_multiple_of(self.mates) {
                self.pending.drop_last();
            }
            return Ok(Cut::Batch(std::mem::take(&mut self.pending).pieces));
        }
        self.end(room)
    }

    /// Adds records to the pending batch, which begins with read `first`, until it is full by its records or bytes.
    /// Returns `false` if there are too few.
    fn fill(&mut self, options: &RecordOptions, first: u64) -> bool {
        loop {
            if self.find_pairs && !self.takes_next() {
                return true;
            }
            let most = options.max_records(first, self.mates);
            if self.pending.is_full(self.mates, most, options) || self.pending.is_apart(&self.sides)
            {
                return true;
            }
            let Some(count) = self.count(options, most) else { return false };
            let mut slices = self.sides.iter_mut().map(|side| side.take(count));
            let (Some(Some(first)), second) = (slices.next(), slices.next().flatten()) else {
                return false;
            };
            self.taken += count as u64;
            for slice in [Some(&first), second.as_ref()].into_iter().flatten() {
                self.pending.records += count;
                self.pending.bytes += slice.text.bytes_of(slice.from, count);
            }
            self.pending.pieces.0.push((first, second));
        }
    }

    /// Whether the next records may be added to the pending batch, which must not mix pairs and single reads. An
    /// empty batch adopts their kind.
    fn takes_next(&mut self) -> bool {
        let Some((paired, _)) = self.sides[0].next_run() else { return true };
        let mates = 1 + usize::from(paired);
        if self.pending.records > 0 {
            return mates == self.mates;
        }
        self.mates = mates;
        true
    }

    /// Returns how many records of each head to add to the pending batch, which is not full; `None` if a head is
    /// missing.
    fn count(&self, options: &RecordOptions, most: usize) -> Option<usize> {
        let mut heads = self.sides.iter().map(Side::head);
        let (first, second) = (heads.next().flatten()?, heads.next());
        let bytes = options.batch_bytes.saturating_sub(self.pending.bytes);
        let records = most.saturating_sub(self.pending.records).max(1);
        let (text, from) = first;
        let left = match self.find_pairs {
            true => self.sides[0].next_run()?.1,
            false => text.len() - from,
        };
        if let Some(second) = second {
            let (other, at) = second?;
            let left = left.min(other.len() - at);
            let has = |count: usize| text.bytes_of(from, count) + other.bytes_of(at, count);
            let enough = least(left, |count| has(count) >= bytes);
            return Some(enough.min(records.div_ceil(2)).min(left));
        }
        let enough = text.records_of(from, bytes).min(records);
        // Extend to the end of a pair.
        let odd = !(self.pending.records + enough).is_multiple_of(self.mates);
        Some((enough + usize::from(odd)).min(left))
    }

    /// Chooses the file to fetch from: the one with fewer records, if it may have more.
    fn fetch(&mut self, room: bool) -> Cut {
        let wants = |side: &usize| room && self.sides[*side].wants();
        let hungry = (0..self.sides.len()).filter(wants);
        match hungry.min_by_key(|&side| self.sides[side].expected()) {
            Some(side) => {
                self.sides[side].begin();
                Cut::Fetch { file: Arc::clone(&self.files[side]), side }
            }
            None => Cut::Wait,
        }
    }

    /// Returns the reason why there are no more records.
    fn end(&mut self, room: bool) -> Result<Cut, Error> {
        for side in 0..self.sides.len() {
            let this = &mut self.sides[side];
            if this.head().is_some() {
                continue;
            }
            if !this.is_over() {
                return Ok(self.fetch(room));
            }
            if let Some(fault) = this.fault() {
                return Err(self.files[side].reader.earliest_error(fault));
            }
            let other = self.sides.len() - 1 - side;
            if self.sides[other].head().is_some() {
                let [shorter, longer] = [side, other].map(|side| self.files[side].name.to_string());
                return Err(Error::MateCount { shorter, records: self.taken, longer });
            }
        }
        if !self.find_pairs && self.files.len() < self.mates && !self.taken.is_multiple_of(2) {
            let input = self.files[0].name.to_string();
            return Err(Error::NoMate { input, record: self.taken });
        }
        Ok(Cut::End)
    }

    /// Warns of reads that are unusable, and of mates that were read as single reads.
    pub(super) fn warn(&self, options: &RecordOptions) {
        let unusable = self.sides.iter().map(|side| side.found.unusable.as_ref());
        if let Some(unusable) = unusable.collect::<Option<Vec<_>>>() {
            let named = self.files.iter().zip(unusable);
            named.for_each(|(file, found)| options.warnings.push(found.warning(&file.name)));
        }
        if !self.find_pairs {
            return;
        }
        let (name, found) = (&self.files[0].name, &self.sides[0].found);
        if found.are_apart() {
            let apart = thousands(found.apart());
            options.warnings.push(format!(
                "{name}: {apart} reads are mates by their flags, but do not lie side by side, and are read as \
                 single reads: to read them as pairs, give the output of samtools collate -O"
            ));
        }
        if let Some((count, [one, two])) = &found.named {
            options.warnings.push(format!(
                "{name}: its first {count} records are pairs by their names ({one} and {two}), but all \
                 are read as single reads: if they are pairs, give `interleaved`"
            ));
        }
    }

    /// Sets the origin of the records in a batch and returns the number of its reads.
    pub(super) fn describe(&mut self, pieces: &Pieces, batch: &mut RecordBatch) -> u64 {
        let count = |(first, second): &Piece| first.len() + second.as_ref().map_or(0, Slice::len);
        let reads = (pieces.0.iter().map(count).sum::<usize>() / self.mates) as u64;
        batch.paired = self.mates == 2;
        batch.alignments = pieces.0.first().is_some_and(|(first, _)| first.text.runs.is_some());
        let stretch =
            |(first, _): &Piece| first.text.stretch.is_some_and(|stretch| !stretch.begins);
        // The read of a stretch is counted in the batch of its first stretch.
        let begun = u64::from(pieces.0.first().is_some_and(stretch));
        batch.first_here = self.handed - begun;
        let reads = reads - begun;
        self.handed += reads;
        let name = |at: usize| Arc::clone(&self.files[at.min(self.files.len() - 1)].name);
        batch.names = [name(0), name(1)];
        reads
    }
}

impl Pending {
    /// Whether the next records must not be in the same batch, because a stretch of a record has a batch of its own.
    fn is_apart(&self, sides: &[Side]) -> bool {
        let first = |piece: &Piece| piece.0.text.stretch.is_some();
        let next = || sides[0].head().is_some_and(|(text, _)| text.stretch.is_some());
        self.pieces.0.last().is_some_and(|last| first(last) || next())
    }

    fn is_full(&self, mates: usize, most: usize, options: &RecordOptions) -> bool {
        let enough = self.records >= most || self.bytes >= options.batch_bytes.max(1);
        enough && self.records.is_multiple_of(mates)
    }

    fn drop_last(&mut self) {
        if let Some((last, _)) = self.pieces.0.last_mut() {
            last.to -= 1;
            if last.len() == 0 {
                self.pieces.0.pop();
            }
        }
    }
}

/// Returns the smallest of 1..=`most` for which `is_enough` holds, given that it then holds for all larger numbers;
/// `most + 1` if it holds for none.
fn least(most: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, most + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
