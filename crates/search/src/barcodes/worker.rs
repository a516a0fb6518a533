//! The worker of a thread: assigns the reads of a batch to samples, and makes the texts of the outputs.

use merganser_alignments::{Compressor, SinkForm};
use merganser_io::{Record, RecordBatch};
use merganser_run::engine::{Turn, Work};

use super::assign::{Assigner, Verdict};
use super::finder::{Finder, WINDOWS};
use super::output::Parts;
use super::{BarcodeOptions, Demultiplexed, SampleCounts};
use crate::Error;
use crate::letters::complement_letter;
use crate::tile::Stretch;

/// The capacity of a text that is kept for reuse, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// A worker with its working memory and counts.
pub(super) struct Worker<'r> {
    assigner: &'r Assigner,
    options: &'r BarcodeOptions,
    finder: Finder<'r>,
    compressors: Vec<Compressor>,
    /// The windows at the ends of reads, as their reverse complements.
    tails: Vec<u8>,
    counts: Demultiplexed,
}

impl<'r> Worker<'r> {
    pub(super) fn new(
        assigner: &'r Assigner,
        options: &'r BarcodeOptions,
        samples: usize,
        forms: &[SinkForm],
    ) -> Worker<'r> {
        Worker {
            assigner,
            options,
            finder: Finder::new(&assigner.barcodes),
            compressors: forms.iter().map(SinkForm::compressor).collect(),
            tails: Vec::new(),
            counts: Demultiplexed::of_samples(samples),
        }
    }

    pub(super) fn into_counts(self) -> Demultiplexed {
        self.counts
    }

    /// Finds the barcodes in up to `WINDOWS / 2` reads. Windows 2i and 2i + 1 are those of read i.
    fn find(&mut self, batch: &RecordBatch, reads: std::ops::Range<usize>) {
        let window = self.options.window;
        self.tails.clear();
        for at in reads.clone() {
            let tail = batch.letters(at).iter().rev().take(window);
            self.tails.extend(tail.map(|&letter| complement_letter(letter)));
        }
        let mut tails = &self.tails[..];
        let mut windows = Vec::with_capacity(WINDOWS);
        for at in reads {
            let letters = batch.letters(at);
            let (head, (tail, rest)) = {
                let length = letters.len().min(window);
                (&letters[..length], tails.split_at(length))
            };
            tails = rest;
            windows.extend([head, tail].map(|letters| Stretch { letters, begins: true }));
        }
        self.finder.find(&windows);
    }

    /// Counts a read, and appends it to the text of its output.
    fn put(&mut self, record: &Record<'_>, verdict: Verdict, parts: &mut Parts) {
        let length = record.letters.len();
        let mut counts = SampleCounts { reads: 1, bases: length as u64, edits: 0 };
        let samples = self.counts.samples.len();
        let (total, part, kept) = match verdict {
            Verdict::None => (&mut self.counts.none, samples, 0..length),
            Verdict::Ambiguous => (&mut self.counts.ambiguous, samples, 0..length),
            Verdict::Sample { cuts: [first, last], .. }
                if self.options.trim && first + last >= length =>
            {
                (&mut self.counts.empty, samples, 0..length)
            }
            Verdict::Sample { number, edits, cuts: [first, last] } => {
                counts.edits = edits as u64;
                let kept = if self.options.trim { first..length - last } else { 0..length };
                (&mut self.counts.samples[number], number, kept)
            }
        };
        total.add(counts);
        if let Some(part) = parts.get_mut(part) {
            let quality = record.quality.map(|quality| &quality[kept.clone()]);
            Record { letters: &record.letters[kept], quality, ..*record }.write(part);
        }
    }
}

impl Work for Worker<'_> {
    type Batch = RecordBatch;
    type Output = Parts;
    type Error = Error;

    fn work(
        &mut self,
        batch: &mut RecordBatch,
        turn: &Turn<'_, Parts, Error>,
    ) -> Result<Parts, Error> {
        let mut parts = turn.spare().unwrap_or_default();
        parts.resize_with(self.compressors.len(), Vec::new);
        parts.iter_mut().for_each(|part| part.shrink_to(MAX_KEPT));
        for first in (0..batch.len()).step_by(WINDOWS / 2) {
            let reads = first..batch.len().min(first + WINDOWS / 2);
            self.find(batch, reads.clone());
            for (at, read) in reads.enumerate() {
                let ends = [0, 1].map(|end| self.finder.places(2 * at + end));
                let verdict = self.assigner.decide(ends);
                self.put(&batch.record(read), verdict, &mut parts);
            }
        }
        for (part, compressor) in parts.iter_mut().zip(&mut self.compressors) {
            compressor.compress(part)?;
        }
        Ok(parts)
    }
}
