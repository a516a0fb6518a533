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
use merganser_run::{InOrder, InOrderSink, OnFailure, run_workers};

use super::Resources;
use crate::Error;

/// Batches for each worker that may be begun before the one that is written.
const AHEAD: u64 = 2;
/// Text of a batch whose memory is worth keeping: one giant read's is not.
const MOST_KEPT: usize = 4 << 20;

/// Batches of what has k-mers, and what is made of their counts.
pub(super) trait Work: Sync {
    type Batch: Default + Send + Sync;
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

    /// Refills a batch, and returns the bytes of input that were read meanwhile; `None` if there is no
    /// more. Any number of workers call it, each with its own batch.
    fn next(&self, batch: &mut Self::Batch, faults: &dyn Faults) -> Option<u64>;

    /// Whoever waits in `next` gets nothing any more.
    fn stop(&self);

    /// How many batches come before this one.
    fn number(batch: &Self::Batch) -> u64;

    /// The same, with no more memory than it needs.
    fn copy(batch: &Self::Batch) -> Self::Batch;

    /// Its items: a read, a pair, a k-mer.
    fn items(batch: &Self::Batch) -> usize;

    /// All letters that are looked up for it.
    fn letters(&self, batch: &Self::Batch) -> usize;

    /// Appends the letters of items from `from` on until there are `most` or somewhat more. Returns
    /// the item that comes next.
    fn join(&self, batch: &Self::Batch, from: usize, most: usize, letters: &mut Vec<u8>) -> usize;

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

/// Takes what went wrong with the batch of a number: nothing is written of it and those behind it.
pub(super) trait Faults {
    fn take(&self, number: u64, error: Error);
}

/// A text for each output.
type Texts = Vec<Vec<u8>>;

/// Takes all batches of `work`, and writes what it makes of them. Returns what the workers found. What
/// was made before an error stands.
///
/// # Errors
/// The first in the input.
pub(super) fn run<W: Work>(
    resources: Resources<'_>,
    work: &W,
    outputs: &mut [Output],
) -> Result<Vec<W::Tally>, Error> {
    let Resources { lookup, threads, cancel, .. } = resources;
    let written = InOrder::new(Writer { outputs, work }, AHEAD * threads as u64, 0);
    let pass = Pass { resources, work, written, tallies: Mutex::default() };
    match lookup.takes_all_threads() {
        true => pass.together(),
        false => pass.each_for_itself(),
    }?;
    let written = pass.written.into_sink();
    // Readers that were told to end look as if they had failed, or had ended.
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    written?;
    Ok(into_inner(pass.tallies))
}

/// What the workers share.
struct Pass<'p, W: Work> {
    resources: Resources<'p>,
    work: &'p W,
    written: InOrder<Texts, Writer<'p, W>>,
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

impl<W: Work> Pass<'_, W> {
    /// Each worker takes batches until there are none.
    fn each_for_itself(&self) -> Result<(), Error> {
        self.workers(|tally| {
            let mut batch = W::Batch::default();
            let (mut letters, mut counts) = (Vec::new(), Vec::new());
            while self.next(&mut batch) && self.has_room(&batch) {
                match self.look_up(&batch, &mut letters, &mut counts, tally) {
                    Ok(texts) => self.hand_in(&batch, texts),
                    Err(error) => self.take(W::number(&batch), error),
                }
                if W::is_long(&batch) {
                    (letters, counts) = (Vec::new(), Vec::new());
                }
            }
        })
    }

    /// All workers read, look up, and go on, and then do so again.
    fn together(&self) -> Result<(), Error> {
        let Resources { lookup, .. } = self.resources;
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
                self.take(W::number(first), error);
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
            while letters.load(Ordering::Relaxed) < most && self.next(&mut batch) {
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
                if !self.has_room(batch) {
                    break;
                }
                let mut texts = self.texts();
                self.work.make(batch, 0..W::items(batch), counts, &mut texts, tally);
                self.hand_in(batch, texts);
            }
        })
    }

    /// Hands in what was made of a batch; of a long one in its turn.
    fn hand_in(&self, batch: &W::Batch, texts: Texts) {
        if W::is_long(batch) {
            self.written.hand_in_some(W::number(batch), texts, u64::MAX, true);
        } else {
            self.written.hand_in(W::number(batch), texts);
        }
    }

    /// Runs all workers, each with a tally.
    fn workers(&self, work: impl Fn(&mut W::Tally) + Sync) -> Result<(), Error> {
        run_workers(self.resources.threads, |_| {
            // Nobody must wait for a worker that is gone.
            let gone = OnFailure::new(|| {
                self.work.stop();
                self.written.stop();
            });
            let mut tally = W::Tally::default();
            work(&mut tally);
            lock(&self.tallies).push(tally);
            gone.disarm();
            Ok(())
        })
    }

    /// Refills a batch; false if there are no more, or none are wanted.
    fn next(&self, batch: &mut W::Batch) -> bool {
        let filled = self.work.next(batch, self);
        if self.resources.cancel.is_cancelled() {
            self.take(0, Error::Cancelled);
            return false;
        }
        self.resources.progress.advance(filled.unwrap_or(0));
        filled.is_some()
    }

    /// Waits until a batch may be worked on; false if it is not wanted any more.
    fn has_room(&self, batch: &W::Batch) -> bool {
        let room = self.written.wait_for_room(W::number(batch));
        if !room {
            // Others may wait for a pipe that keeps silent.
            self.work.stop();
        }
        room
    }

    /// Looks a batch up, as many letters at once as is best, and makes what there is to write of it.
    fn look_up(
        &self,
        batch: &W::Batch,
        letters: &mut Vec<u8>,
        counts: &mut Vec<u32>,
        tally: &mut W::Tally,
    ) -> Result<Texts, Error> {
        let lookup = self.resources.lookup;
        let mut texts = self.texts();
        let mut from = 0;
        while from < W::items(batch) {
            letters.clear();
            let to = self.work.join(batch, from, lookup.letters_at_once(), letters);
            lookup.counts(letters, self.work.stride(), counts)?;
            self.work.make(batch, from..to, counts, &mut texts, tally);
            from = to;
        }
        Ok(texts)
    }

    fn texts(&self) -> Texts {
        let texts = self.written.spare();
        texts.unwrap_or_else(|| vec![Vec::new(); self.work.texts()])
    }
}

impl<W: Work> Faults for Pass<'_, W> {
    fn take(&self, number: u64, error: Error) {
        self.written.fail(number, error);
        self.work.stop();
    }
}
