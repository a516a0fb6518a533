//! A pass over batches whose k-mers are looked up; the outputs are written in the order of the input.
//!
//! If each worker can look up k-mers by itself, it processes a batch from the input to its text. If one look-up
//! keeps all workers busy, they first read the number of batches that the look-up takes.

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_io::Output;
use merganser_run::InOrderSink;
use merganser_run::engine::{Engine, Held, Source, Turn, Work};

use super::Job;
use crate::Error;
use crate::lookup::Lookup;

/// The number of batches per worker that may be started before the one that is written next.
const AHEAD: u64 = 2;
/// The largest capacity of a text whose memory is kept for reuse; that of a giant read is released.
const MAX_KEPT: usize = 4 << 20;

/// The batches of a pass, and the code that turns counts into output.
pub(super) trait PassJob: Source<Batch: Send + Sync, Error = Error> {
    type Tally: Default + Send;

    /// Returns the number of texts that are made from a batch: one for each output, followed by those that only
    /// [`settle`](Self::settle) uses.
    fn texts(&self) -> usize;

    /// Takes the texts of each batch, in the order of the input, before they are written, and may write and change
    /// them. It is for outputs that depend on several batches.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        let _ = (texts, outputs);
        Ok(())
    }

    /// Compresses the texts of a batch, all of which were made, by a worker.
    ///
    /// # Errors
    /// If compression fails.
    fn compress(&self, texts: &mut [Vec<u8>]) -> Result<(), Error> {
        let _ = texts;
        Ok(())
    }

    /// Returns the largest number of letters that should be looked up together, the first time and later.
    fn max_letters(&self) -> [usize; 2] {
        [usize::MAX; 2]
    }

    /// Returns the distance between the starts of k-mers that are looked up, in letters.
    fn stride(&self) -> usize {
        1
    }

    /// Returns a copy of the batch with no more memory than it needs.
    fn copy(batch: &Self::Batch) -> Self::Batch;

    /// Returns the number of items in the batch: reads, pairs or k-mers.
    fn items(batch: &Self::Batch) -> usize;

    /// Returns the number of letters that are looked up for the batch.
    fn letters(&self, batch: &Self::Batch) -> usize;

    /// Appends the letters of items from `from` on until there are at least `most`. Returns the next item.
    fn join(&self, batch: &Self::Batch, from: usize, most: usize, letters: &mut Vec<u8>) -> usize;

    /// Replaces `counts` by those of the k-mers of some items, whose letters were [joined](Self::join).
    ///
    /// # Errors
    /// Fails as [`Lookup::counts`] does.
    fn counts(
        &self,
        batch: &Self::Batch,
        items: Range<usize>,
        letters: &[u8],
        lookup: &dyn Lookup,
        counts: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let _ = (batch, items);
        lookup.counts(letters, self.stride(), counts)
    }

    /// Makes the texts of some items from the counts of the k-mers at their letters.
    ///
    /// # Errors
    /// If an item cannot be written.
    fn make(
        &self,
        batch: &Self::Batch,
        items: Range<usize>,
        counts: &mut [u32],
        texts: &mut [Vec<u8>],
        tally: &mut Self::Tally,
    ) -> Result<(), Error>;
}

/// A text for each output.
type Texts = Vec<Vec<u8>>;

/// Processes all batches of `work`, writes their texts, and returns the results of the workers.
///
/// # Errors
/// The first error in the order of the input. The output for batches before it has been written.
pub(super) fn run<W: PassJob>(
    job: Job<'_>,
    work: &W,
    outputs: &mut [Output],
) -> Result<Vec<W::Tally>, Error> {
    let threads = job.context.threads;
    let writer = Writer { outputs, work };
    let engine = Engine::new(
        work,
        writer,
        AHEAD * threads as u64,
        &*job.context.progress,
        &job.context.cancel,
    );
    let pass = Pass { job, work, engine };
    let tallies = match job.lookup.takes_all_threads() {
        true => pass.together(),
        false => pass.each_for_itself(),
    }?;
    pass.engine.finish()?;
    Ok(tallies)
}

struct Pass<'p, 'o, W: PassJob> {
    job: Job<'p>,
    work: &'p W,
    engine: Engine<'p, W, Texts, Writer<'o, W>>,
}

struct Writer<'o, W> {
    outputs: &'o mut [Output],
    work: &'o W,
}

impl<W: PassJob> InOrderSink<Texts> for Writer<'_, W> {
    type Error = Error;

    fn write(&mut self, mut texts: Texts) -> Result<Option<Texts>, Error> {
        self.work.settle(&mut texts, self.outputs)?;
        for (output, text) in self.outputs.iter_mut().zip(&texts) {
            output.write_all(text)?;
        }
        texts.iter_mut().for_each(Vec::clear);
        let usual = texts.iter().all(|text| text.capacity() <= MAX_KEPT);
        Ok(usual.then_some(texts))
    }
}

impl<'p, 'o, W: PassJob> Pass<'p, 'o, W> {
    /// Runs workers that look up their batches themselves.
    fn each_for_itself(&self) -> Result<Vec<W::Tally>, Error> {
        let workers = self.engine.run(self.job.context.threads, || self.worker())?;
        Ok(workers.into_iter().map(|worker| worker.tally).collect())
    }

    /// Alternates between reading batches with all workers, looking up, and making texts with all workers.
    fn together(&self) -> Result<Vec<W::Tally>, Error> {
        let Job { lookup, .. } = self.job;
        let [mut most, later] = self.work.max_letters();
        let (mut counts, mut tallies) = (Vec::new(), Vec::new());
        loop {
            let batches = self.gather(most.min(lookup.letters_at_once()))?;
            most = later;
            let Some(first) = batches.first() else { return Ok(tallies) };
            let all = batches.iter().map(|held| self.work.letters(&held.kept)).sum();
            let mut letters = Vec::with_capacity(all);
            for held in &batches {
                self.work.join(&held.kept, 0, usize::MAX, &mut letters);
            }
            if let Err(error) = lookup.counts(&letters, self.work.stride(), &mut counts) {
                self.engine.fail(first.number(), error);
                return Ok(tallies);
            }
            drop(letters);
            tallies.extend(self.make_all(batches, &mut counts)?);
        }
    }

    /// Reads the next batches until they have at least `most` letters. Returns them in the order of the input; empty at
    /// the end.
    fn gather(&self, most: usize) -> Result<Vec<Held<W::Batch>>, Error> {
        let letters = AtomicUsize::new(0);
        let more = || letters.load(Ordering::Relaxed) < most;
        self.engine.hold(
            self.job.context.threads,
            || (),
            more,
            |(), batch| {
                letters.fetch_add(self.work.letters(batch), Ordering::Relaxed);
                W::copy(batch)
            },
        )
    }

    /// Makes the texts of batches whose k-mers were looked up.
    fn make_all(
        &self,
        batches: Vec<Held<W::Batch>>,
        counts: &mut [u32],
    ) -> Result<Vec<W::Tally>, Error> {
        let mut left = counts;
        let mut share = |batch: W::Batch| {
            let places = self.work.letters(&batch) / self.work.stride();
            let counts = places * self.job.lookup.width();
            let (own, rest) = std::mem::take(&mut left).split_at_mut(counts);
            left = rest;
            (batch, own)
        };
        let shares: Vec<_> = batches.into_iter().map(|held| held.map(&mut share)).collect();
        let make = |tally: &mut W::Tally,
                    (batch, counts): (W::Batch, &mut [u32]),
                    turn: &Turn<'_, _, _>| {
            let mut texts = self.texts(turn);
            self.work.make(&batch, 0..W::items(&batch), counts, &mut texts, tally)?;
            self.work.compress(&mut texts)?;
            Ok(texts)
        };
        self.engine.run_held(self.job.context.threads, shares, W::Tally::default, make)
    }

    fn worker(&self) -> Worker<'_, 'p, 'o, W> {
        let (letters, counts) = (Vec::new(), Vec::new());
        Worker { pass: self, letters, counts, tally: W::Tally::default() }
    }

    fn texts(&self, turn: &Turn<'_, Texts, Error>) -> Texts {
        turn.spare().unwrap_or_else(|| vec![Vec::new(); self.work.texts()])
    }
}

/// A worker that looks up its batches itself.
struct Worker<'w, 'p, 'o, W: PassJob> {
    pass: &'w Pass<'p, 'o, W>,
    letters: Vec<u8>,
    counts: Vec<u32>,
    tally: W::Tally,
}

impl<W: PassJob> Work for Worker<'_, '_, '_, W> {
    type Batch = W::Batch;
    type Output = Texts;
    type Error = Error;

    /// Looks up a batch, with the best number of letters at a time, and makes its texts.
    fn work(
        &mut self,
        batch: &mut W::Batch,
        turn: &Turn<'_, Texts, Error>,
    ) -> Result<Texts, Error> {
        let (work, lookup) = (self.pass.work, self.pass.job.lookup);
        let mut texts = self.pass.texts(turn);
        let mut from = 0;
        while from < W::items(batch) {
            self.letters.clear();
            let to = work.join(batch, from, lookup.letters_at_once(), &mut self.letters);
            work.counts(batch, from..to, &self.letters, lookup, &mut self.counts)?;
            work.make(batch, from..to, &mut self.counts, &mut texts, &mut self.tally)?;
            from = to;
        }
        work.compress(&mut texts)?;
        if work.is_long(batch) {
            (self.letters, self.counts) = (Vec::new(), Vec::new());
        }
        Ok(texts)
    }
}
