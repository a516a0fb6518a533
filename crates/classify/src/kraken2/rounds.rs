//! Reads classified by a table that is larger than memory: in rounds of as many reads as memory holds,
//! with the searches for their minimizers. Each round goes through the table once, range by range, so
//! that no more of it is there than a range, and it is read in its order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use merganser_io::RecordBatch;
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, run_workers};

use super::plan::RoundPlan;
use super::table::{Ranges, Table};
use super::waiting::WaitingBatch;
use super::work::Run;
use super::worker::Kraken2Classifier;
use crate::Error;

/// A run in rounds.
pub(super) struct Rounds<'o, 'r, 'w, 'p> {
    pub(super) run: &'o Run<'r, 'w, 'p>,
    pub(super) classifier: &'o Kraken2Classifier<'o>,
    pub(super) table: &'o Table,
    pub(super) plan: RoundPlan,
    pub(super) threads: usize,
    pub(super) cancel: &'o Cancel,
}

impl Rounds<'_, '_, '_, '_> {
    /// Takes batches until there are none, and returns how many rounds these were.
    ///
    /// # Errors
    /// If the database turns out to be damaged, threads cannot be started, or the run is cancelled.
    /// Other failures the run has.
    pub(super) fn work(&self) -> Result<u64, Error> {
        let ranges = self.table.ranges(self.plan.range);
        let (mut rounds, mut next) = (0, 0);
        loop {
            let round = self.take(next)?;
            if round.is_empty() {
                return Ok(rounds);
            }
            rounds += 1;
            next += round.len() as u64;
            let round: Vec<_> =
                round.into_iter().map(|waiting| Mutex::new(Some(waiting))).collect();
            self.look_up(&ranges, &round)?;
            self.hand_in(&round)?;
        }
    }

    /// Takes batches, from number `next` on, until they take the memory that they may.
    fn take(&self, next: u64) -> Result<Vec<WaitingBatch>, Error> {
        let (taken, bytes) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        self.run.batches.work(self.threads, || {
            let (mut worker, mut batch) = (self.classifier.worker(), RecordBatch::default());
            while bytes.load(Ordering::Relaxed) < self.plan.waiting && self.run.next(&mut batch) {
                let Some(cuts) = self.run.blocks(&batch) else { return };
                let waiting = worker.wait(&mut batch, cuts);
                bytes.fetch_add(waiting.bytes(), Ordering::Relaxed);
                lock(&taken).push(waiting);
            }
        })?;
        let mut taken = into_inner(taken);
        taken.sort_unstable_by_key(|waiting| waiting.batch.number());
        // Behind one that is missing, for a failure that the run has, nothing is written.
        let in_order = |(number, waiting): &(u64, WaitingBatch)| waiting.batch.number() == *number;
        Ok((next..).zip(taken).take_while(in_order).map(|(_, waiting)| waiting).collect())
    }

    /// Makes all searches of a round, range by range.
    fn look_up(&self, ranges: &Ranges, round: &[Mutex<Option<WaitingBatch>>]) -> Result<(), Error> {
        let count = |one: &Mutex<Option<WaitingBatch>>| {
            lock(one).as_ref().map_or(0, WaitingBatch::searches)
        };
        let searches = round.iter().map(count).sum();
        self.table.read_ahead(ranges, 0, searches);
        for range in 0..ranges.len() {
            self.table.read_ahead(ranges, range + 1, searches);
            let next = AtomicUsize::new(0);
            let done = run_workers(self.threads, |_| {
                while let Some(waiting) = round.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if self.cancel.is_cancelled() {
                        return Err(Error::Cancelled);
                    }
                    if let Some(waiting) = &mut *lock(waiting) {
                        waiting.look_up_range(self.table, ranges, range)?;
                    }
                }
                Ok(())
            });
            self.table.release(ranges, range);
            done?;
        }
        Ok(())
    }

    /// Makes of a round's batches what is written, in their order.
    fn hand_in(&self, round: &[Mutex<Option<WaitingBatch>>]) -> Result<(), Error> {
        let next = AtomicUsize::new(0);
        self.run.batches.work(self.threads, || {
            let mut worker = self.classifier.worker();
            while let Some(waiting) = round.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Some(mut waiting) = lock(waiting).take() else { continue };
                if !self.run.batches.written().wait_for_room(waiting.batch.number()) {
                    return;
                }
                let mut part = self.run.spare_part();
                worker.classify_waiting(&mut waiting, &mut part.batch);
                self.run.hand_in(&waiting.batch, waiting.is_long, Ok(part));
            }
        })
    }
}
