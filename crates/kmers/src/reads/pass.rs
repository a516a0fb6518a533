//! Batches on their way through all workers: read, looked up, and handed in for what is to be written of
//! them, in the order of the input.
//!
//! Where each worker looks up for itself, it takes a batch from the input to its text. Where one
//! look-up keeps all of them busy, they first read as many batches as it takes.

use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_io::Output;
use merganser_run::locks::{into_inner, lock};
use merganser_run::{InOrder, InOrderSink, Pipeline, Source};

use super::Job;
use crate::Error;
use crate::lookup::Lookup;

/// Batches for each worker that may be begun before the one that is written.
const AHEAD: u64 = 2;
/// Text of a batch whose memory is worth keeping: one giant read's is not.
const MOST_KEPT: usize = 4 << 20;

/// Batches of what has k-mers, and what is made of their counts.
pub(super) trait Work: Source<Batch: Send + Sync, Error = Error> {
    type Tally: Default + Send;

    /// How many texts are made of a batch: one for each output, then those that are for
    /// [`settle`](Self::settle) alone.
    fn texts(&self) -> usize;

    /// Is given the texts of each batch when it is its turn, before they are written, and may write and
    /// change them: for what takes several batches.
    ///
    /// # Errors
    /// If something cannot be written.
    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        let _ = (texts, outputs);
        Ok(())
    }

    /// Whether what is made of a batch must not wait for its turn in memory.
    fn is_long(batch: &Self::Batch) -> bool {
        let _ = batch;
        false
    }

    /// How many letters should be looked up together at most, at first and later on.
    fn most_letters(&self) -> [usize; 2] {
        [usize::MAX; 2]
    }

    /// Letters from one k-mer that is looked up to the next one.
    fn stride(&self) -> usize {
        1
    }

    /// The same, with no more memory than it needs.
    fn copy(batch: &Self::Batch) -> Self::Batch;

    /// Its items: a read, a pair, a k-mer.
    fn items(batch: &Self::Batch) -> usize;

    /// All letters that are looked up for it.
    fn letters(&self, batch: &Self::Batch) -> usize;

    /// Appends the letters of items from `from` on until there are `most` or somewhat more. Returns
    /// the item that comes next.
    fn join(&self, batch: &Self::Batch, from: usize, most: usize, letters: &mut Vec<u8>) -> usize;

    /// Replaces `counts` by those of the k-mers of some items, whose letters were [joined](Self::join).
    ///
    /// # Errors
    /// As [`Lookup::counts`].
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

    /// Makes what there is to write of some items, given the counts of the k-mers at their letters.
    fn make(
        &self,
        batch: &Self::Batch,
        items: Range<usize>,
        counts: &mut [u32],
        texts: &mut [Vec<u8>],
        tally: &mut Self::Tally,
    );
}

/// A text for each output.
type Texts = Vec<Vec<u8>>;

/// Takes all batches of `work`, and writes what it makes of them. Returns what the workers found. What
/// was made before an error stands.
///
/// # Errors
/// The first in the input.
pub(super) fn run<W: Work>(
    job: Job<'_>,
    work: &W,
    outputs: &mut [Output],
) -> Result<Vec<W::Tally>, Error> {
    let Job { lookup, cancel, .. } = job;
    let threads = job.resources.threads;
    let written = InOrder::new(Writer { outputs, work }, AHEAD * threads as u64, 0);
    let pipeline = Pipeline::new(work, &written, job.progress, cancel);
    let pass = Pass { job, work, pipeline, tallies: Mutex::default() };
    match lookup.takes_all_threads() {
        true => pass.together(),
        false => pass.each_for_itself(),
    }?;
    let tallies = into_inner(pass.tallies);
    let written = written.into_sink();
    // Readers that were told to end look as if they had failed, or had ended.
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    written?;
    Ok(tallies)
}

/// What the workers share.
struct Pass<'p, 'o, W: Work> {
    job: Job<'p>,
    work: &'p W,
    pipeline: Pipeline<'p, W, Texts, Writer<'o, W>>,
    tallies: Mutex<Vec<W::Tally>>,
}

struct Writer<'o, W> {
    outputs: &'o mut [Output],
    work: &'o W,
}

impl<W: Work> InOrderSink<Texts> for Writer<'_, W> {
    type Error = Error;

    fn write(&mut self, mut texts: Texts) -> Result<Option<Texts>, Error> {
        self.work.settle(&mut texts, self.outputs)?;
        for (output, text) in self.outputs.iter_mut().zip(&texts) {
            output.write_all(text)?;
        }
        texts.iter_mut().for_each(Vec::clear);
        let usual = texts.iter().all(|text| text.capacity() <= MOST_KEPT);
        Ok(usual.then_some(texts))
    }
}

impl<W: Work> Pass<'_, '_, W> {
    /// Each worker takes batches until there are none.
    fn each_for_itself(&self) -> Result<(), Error> {
        self.workers(|tally| {
            let mut batch = W::Batch::default();
            let (mut letters, mut counts) = (Vec::new(), Vec::new());
            while self.pipeline.next(&mut batch) && self.pipeline.wait_for_room(&batch) {
                let texts = self.look_up(&batch, &mut letters, &mut counts, tally);
                self.hand_in(&batch, texts);
                if W::is_long(&batch) {
                    (letters, counts) = (Vec::new(), Vec::new());
                }
            }
        })
    }

    /// All workers read, look up, and go on, and then do so again.
    fn together(&self) -> Result<(), Error> {
        let Job { lookup, .. } = self.job;
        let [mut most, later] = self.work.most_letters();
        let mut counts = Vec::new();
        loop {
            let batches = self.gather(most.min(lookup.letters_at_once()))?;
            most = later;
            let Some(first) = batches.first() else { return Ok(()) };
            let all = batches.iter().map(|batch| self.work.letters(batch)).sum();
            let mut letters = Vec::with_capacity(all);
            for batch in &batches {
                self.work.join(batch, 0, usize::MAX, &mut letters);
            }
            if let Err(error) = lookup.counts(&letters, self.work.stride(), &mut counts) {
                self.pipeline.fail(W::number(first), error);
                return Ok(());
            }
            drop(letters);
            self.make_all(&batches, &mut counts)?;
        }
    }

    /// The next batches with so many letters or somewhat more, in order. None if there are none.
    fn gather(&self, most: usize) -> Result<Vec<W::Batch>, Error> {
        let (letters, batches) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        self.workers(|_| {
            let mut batch = W::Batch::default();
            while letters.load(Ordering::Relaxed) < most && self.pipeline.next(&mut batch) {
                letters.fetch_add(self.work.letters(&batch), Ordering::Relaxed);
                lock(&batches).push(W::copy(&batch));
            }
        })?;
        let mut batches = into_inner(batches);
        batches.sort_unstable_by_key(W::number);
        Ok(batches)
    }

    /// Makes what there is to write of batches whose k-mers were looked up.
    fn make_all(&self, batches: &[W::Batch], counts: &mut [u32]) -> Result<(), Error> {
        let mut left = counts;
        let share = |batch| {
            let places = self.work.letters(batch) / self.work.stride();
            let (own, rest) = std::mem::take(&mut left).split_at_mut(places);
            left = rest;
            Mutex::new((batch, own))
        };
        let shares: Vec<_> = batches.iter().map(share).collect();
        let next = AtomicUsize::new(0);
        self.workers(|tally| {
            while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (batch, counts) = &mut *lock(share);
                if !self.pipeline.wait_for_room(batch) {
                    break;
                }
                let mut texts = self.texts();
                self.work.make(batch, 0..W::items(batch), counts, &mut texts, tally);
                self.hand_in(batch, Ok(texts));
            }
        })
    }

    /// Hands in what was made of a batch; of a long one in its turn.
    fn hand_in(&self, batch: &W::Batch, texts: Result<Texts, Error>) {
        match W::is_long(batch) {
            true => self.pipeline.hand_in_its_turn(W::number(batch), texts),
            false => self.pipeline.hand_in(W::number(batch), texts),
        }
    }

    /// Runs all workers, each with a tally.
    fn workers(&self, work: impl Fn(&mut W::Tally) + Sync) -> Result<(), Error> {
        self.pipeline.work(self.job.resources.threads, || {
            let mut tally = W::Tally::default();
            work(&mut tally);
            lock(&self.tallies).push(tally);
        })
    }

    /// Looks a batch up, as many letters at once as is best, and makes what there is to write of it.
    fn look_up(
        &self,
        batch: &W::Batch,
        letters: &mut Vec<u8>,
        counts: &mut Vec<u32>,
        tally: &mut W::Tally,
    ) -> Result<Texts, Error> {
        let lookup = self.job.lookup;
        let mut texts = self.texts();
        let mut from = 0;
        while from < W::items(batch) {
            letters.clear();
            let to = self.work.join(batch, from, lookup.letters_at_once(), letters);
            self.work.counts(batch, from..to, letters, lookup, counts)?;
            self.work.make(batch, from..to, counts, &mut texts, tally);
            from = to;
        }
        Ok(texts)
    }

    fn texts(&self) -> Texts {
        let texts = self.pipeline.written().spare();
        texts.unwrap_or_else(|| vec![Vec::new(); self.work.texts()])
    }
}
