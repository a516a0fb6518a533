//! Classification with a table that is larger than memory, in rounds. Each round has as many reads as fit in
//! memory together with the searches for their minimizers, and reads the table once, range by range. So at
//! most one range of the table is in memory at a time, and the table is read sequentially. If there is a device, the
//! ranges are copied to it, and it performs the searches.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use merganser_run::engine::Held;
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, each, join, start_scoped};

use super::plan::RoundPlan;
use super::table::Table;
use super::tables::Tables;
use super::waiting::WaitingBatch;
use super::work::{Batches, CutBatch, RunContext};
use super::worker::Kraken2Classifier;
use crate::Error;
use crate::cuda::{DeviceRange, RangeGpu};

/// A run that classifies in rounds.
pub(super) struct Rounds<'o, 'r, 'w, 'p> {
    pub(super) run: &'o RunContext<'o>,
    pub(super) batches: &'o Batches<'r, 'w, 'p>,
    pub(super) classifier: &'o Kraken2Classifier<'o>,
    pub(super) tables: &'o Tables,
    /// The device that performs the searches.
    pub(super) gpu: Option<&'o RangeGpu>,
    pub(super) plan: RoundPlan,
    pub(super) threads: usize,
    pub(super) cancel: &'o Cancel,
}

/// The batches of a round.
type Round = Vec<Held<Mutex<WaitingBatch>>>;

impl Rounds<'_, '_, '_, '_> {
    /// Processes all batches and returns the number of rounds.
    ///
    /// # Errors
    /// If the database turns out to be damaged, if threads cannot be started, or if the run is cancelled.
    /// Other failures are stored in the run.
    pub(super) fn work(&self) -> Result<u64, Error> {
        let mut rounds = 0;
        loop {
            let round = self.take()?;
            if round.is_empty() {
                return Ok(rounds);
            }
            rounds += 1;
            for (number, table) in self.tables.all().enumerate() {
                match self.gpu {
                    Some(gpu) => self.look_up_on(gpu, (number, table), &round)?,
                    None => self.look_up((number, table), &round)?,
                }
            }
            self.hand_over(round)?;
        }
    }

    /// Takes batches until their memory is used up or there are no more.
    fn take(&self) -> Result<Round, Error> {
        let bytes = AtomicU64::new(0);
        let more = || bytes.load(Ordering::Relaxed) < self.plan.waiting;
        let worker = || self.classifier.worker();
        self.batches.hold(self.threads, worker, more, |worker, CutBatch { batch, cuts }| {
            let waiting = worker.wait(batch, std::mem::take(cuts));
            bytes.fetch_add(waiting.bytes(), Ordering::Relaxed);
            Mutex::new(waiting)
        })
    }

    /// Performs all searches of a round in a table, range by range.
    fn look_up(&self, (number, table): (usize, &Table), round: &Round) -> Result<(), Error> {
        let ranges = &table.ranges(self.plan.range);
        let searches = round.iter().map(|held| lock(&held.kept).searches(number)).sum();
        table.read_ahead(ranges, 0, searches);
        for range in 0..ranges.len() {
            table.read_ahead(ranges, range + 1, searches);
            let done = each(self.threads, 0..round.len(), self.cancel, |numbers| {
                numbers.try_for_each(|at| {
                    let mut held = lock(&round[at].kept);
                    let mut searches = held.take_searches((number, table), ranges, range);
                    searches.try_for_each(|searches| table.perform(searches))
                })
            });
            table.release(ranges, range);
            done?;
        }
        Ok(())
    }

    /// Performs all searches of a round in a table on a device, range by range. While those of one range are performed,
    /// the next range is copied.
    fn look_up_on(
        &self,
        gpu: &RangeGpu,
        (number, table): (usize, &Table),
        round: &Round,
    ) -> Result<(), Error> {
        let ranges = &table.ranges(self.plan.range);
        let cells = |range| table.cells_of(ranges, range);
        let most = (0..ranges.len()).map(|range| cells(range).end - cells(range).start).max();
        let mut there = gpu.alloc(table, most.unwrap_or(0))?;
        let mut next = gpu.alloc(table, most.unwrap_or(0))?;
        let upload = |range: usize, to: &mut DeviceRange| {
            gpu.upload((table, cells(range)), to, self.threads, self.cancel)
        };
        upload(0, &mut there)?;
        for range in 0..ranges.len() {
            let (now, later) = (&there, &mut next);
            thread::scope(|scope| {
                let copying = (range + 1 < ranges.len())
                    .then(|| start_scoped(scope, || upload(range + 1, later)))
                    .transpose()?;
                let done = each(self.threads, 0..round.len(), self.cancel, |numbers| {
                    numbers.try_for_each(|at| {
                        let mut held = lock(&round[at].kept);
                        let searches = held.take_searches((number, table), ranges, range);
                        gpu.look_up(table, now, searches)
                    })
                });
                let copied = copying.map(join).transpose();
                done.and(copied.map(Option::unwrap_or_default))
            })?;
            std::mem::swap(&mut there, &mut next);
        }
        Ok(())
    }

    /// Classifies the reads of a round's batches and hands the results over in input order.
    fn hand_over(&self, round: Round) -> Result<(), Error> {
        let worker = || self.classifier.worker();
        let workers =
            self.batches.run_held(self.threads, round, worker, |worker, waiting, turn| {
                let (mut waiting, mut part) =
                    (into_inner(waiting), turn.spare().unwrap_or_default());
                worker.classify_waiting(&mut waiting, &mut part.batch);
                self.run.complete(&waiting.batch, part)
            });
        workers.map(drop)
    }
}
