//! Classification with a table that is larger than memory, in rounds. Each round has as many reads as fit in
//! memory together with the searches for their minimizers, and reads the table once, range by range. So at
//! most two ranges of the table are in memory at a time, and the table is read sequentially. If there is a device, the
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
use crate::cuda::RangeGpu;
use crate::held_ranges::{HostMemory, RangeMemory};

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
        match self.gpu {
            Some(gpu) => self.work_in(gpu),
            None => self.work_in(&HostMemory),
        }
    }

    fn work_in<M: RangeMemory>(&self, memory: &M) -> Result<u64, Error> {
        // Allocated with the first round, and kept.
        let mut held: Option<[M::Held; 2]> = None;
        let mut rounds = 0;
        loop {
            let round = self.take()?;
            if round.is_empty() {
                return Ok(rounds);
            }
            rounds += 1;
            for (number, table) in self.tables.all().enumerate() {
                let searches = round.iter().map(|held| lock(&held.kept).searches(number)).sum();
                if self.gpu.is_none() && !table.is_read_by(searches, self.plan.around) {
                    self.look_up((number, table), &round)?;
                    continue;
                }
                let both = match held.take() {
                    Some(both) => both,
                    None => [memory.hold(self.held_bytes())?, memory.hold(self.held_bytes())?],
                };
                held = Some(self.look_up_in(memory, both, (number, table), &round)?);
            }
            self.hand_over(round)?;
        }
    }

    /// Returns the size of the longest range of the tables in bytes.
    fn held_bytes(&self) -> usize {
        let of_table = |table: &Table| {
            let ranges = table.ranges(self.plan.range);
            let bytes = |range| table.bytes_of(table.cells_of(&ranges, range)).len();
            (0..ranges.len()).map(bytes).max()
        };
        self.tables.all().filter_map(of_table).max().unwrap_or(0)
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

    /// Performs all searches of a round in a table, in the file: there are so few that most of the table is not read.
    fn look_up(&self, (number, table): (usize, &Table), round: &Round) -> Result<(), Error> {
        let ranges = &table.ranges(self.plan.range);
        for range in 0..ranges.len() {
            let done = self.each_batch(round, |waiting| {
                let mut searches = waiting.take_searches((number, table), ranges, range);
                searches.try_for_each(|searches| table.perform(searches))
            });
            table.release(ranges, range);
            done?;
        }
        Ok(())
    }

    /// Performs all searches of a round in a table, range by range. While those of one range are performed, the next
    /// range is read. Returns the memory.
    fn look_up_in<M: RangeMemory>(
        &self,
        memory: &M,
        [mut now, mut next]: [M::Held; 2],
        (number, table): (usize, &Table),
        round: &Round,
    ) -> Result<[M::Held; 2], Error> {
        let ranges = &table.ranges(self.plan.range);
        let load = |range: usize, to: &mut M::Held, cancel: &Cancel| {
            memory.load((table, table.cells_of(ranges, range)), to, self.threads, cancel)
        };
        load(0, &mut now, self.cancel)?;
        for range in 0..ranges.len() {
            let (here, later) = (&now, &mut next);
            let search = || {
                self.each_batch(round, |waiting| {
                    let searches = waiting.take_searches((number, table), ranges, range);
                    memory.look_up(table, here, searches)
                })
            };
            let is_last = range + 1 == ranges.len();
            let load = (!is_last).then_some(|cancel: &Cancel| load(range + 1, later, cancel));
            search_and_load(self.cancel, search, load)?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok([now, next])
    }

    /// Calls `work` for each batch of a round.
    fn each_batch(
        &self,
        round: &Round,
        work: impl Fn(&mut WaitingBatch) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let done = each(self.threads, 0..round.len(), self.cancel, |numbers| {
            numbers.try_for_each(|at| work(&mut lock(&round[at].kept)))
        });
        done.map(drop)
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

/// Performs `search`, and on another thread `load`. A failed search ends the loading at once.
///
/// # Errors
/// The error of the search; without one, that of loading.
fn search_and_load(
    cancel: &Cancel,
    search: impl FnOnce() -> Result<(), Error>,
    load: Option<impl FnOnce(&Cancel) -> Result<(), Error> + Send>,
) -> Result<(), Error> {
    let part = &cancel.of_part();
    thread::scope(|scope| {
        let load = load.map(|load| start_scoped(scope, move || load(part))).transpose()?;
        let done = search();
        if done.is_err() {
            part.cancel();
        }
        done.and(load.map_or(Ok(()), join))
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until it is cancelled.
    fn endless(cancel: &Cancel) -> Result<(), Error> {
        let begun = Instant::now();
        while !cancel.is_cancelled() {
            assert!(begun.elapsed() < Duration::from_secs(60), "loading goes on");
            thread::sleep(Duration::from_millis(1));
        }
        Err(Error::Cancelled)
    }

    fn failed(what: &str) -> Result<(), Error> {
        Err(Error::Input(what.to_owned()))
    }

    #[test]
    fn a_failed_search_ends_the_loading_of_the_next_range() {
        let cancel = Cancel::default();
        let error = search_and_load(&cancel, || failed("search"), Some(endless)).unwrap_err();
        assert_eq!(error.to_string(), "search");
        assert!(!cancel.is_cancelled());
        let load = Some(|_: &Cancel| failed("load"));
        assert_eq!(search_and_load(&cancel, || Ok(()), load).unwrap_err().to_string(), "load");
        assert!(search_and_load(&cancel, || Ok(()), Some(|_: &Cancel| Ok(()))).is_ok());
        cancel.cancel();
        let error = search_and_load(&cancel, || Ok(()), Some(endless)).unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{error}");
    }
}
