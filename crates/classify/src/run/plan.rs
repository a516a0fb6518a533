//! How the memory is spent: decided before the first read.

use std::ops::Range;

use merganser_run::{Budget, Resources, Shortage, format_size, neighbours};

use crate::config::RunConfig;
use crate::{Database, Error};

/// Memory of a thread: what it reads, batches that wait, features that are looked up together and
/// their lists, lines that wait for their turn.
const THREAD: u64 = 18 << 20;
/// Batches that wait for the parts that are asked later take so much memory at least; more goes to
/// temporary files.
const LEAST_WAITING: u64 = 8 << 20;
/// How often a record is there at the same time, at most: as it was read (twice for a moment), without
/// the bases of low quality, and as it is written;
const COPIES: u64 = 4;
/// and its features, if these are counted.
const MORE_COPIES: u64 = 2;

/// What a run may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Parts of the database that are asked together, one group after the other.
    pub(super) rounds: Vec<Range<usize>>,
    /// The longest record.
    pub(super) record: usize,
    /// Bytes of batches that wait in memory.
    pub(super) waiting: u64,
}

impl Plan {
    /// Shares out the memory; with devices, the database is theirs.
    ///
    /// # Errors
    /// If it is too little for a single part of the database, or for all of them where reads are looked
    /// up one by one.
    pub(super) fn new(
        database: &Database,
        config: &RunConfig,
        resources: &Resources,
        on_devices: bool,
    ) -> Result<Plan, Error> {
        let threads = resources.threads;
        let fixed = fixed(database, config, resources);
        let all = 0..database.parts();
        // With devices, the host needs tables only for what stands behind a verdict.
        let again = config.kraken2.confidence > 0.0;
        // Tables that are in memory already take nothing of what is free, but of a limit they do.
        let held = resources.memory.is_none() && database.is_in_memory();
        let here = (!on_devices || again) && !held;
        let bytes = |parts: Range<usize>| if here { database.resident_bytes(parts) } else { 0 };
        let whole = fixed.with(bytes(all.clone()));
        let memory = resources.memory.unwrap_or_else(|| usual(resources, whole.needed()));
        let [fixed, whole] = [fixed, whole].map(|budget| budget.within(memory));
        let (rounds, left) = if whole.suffices() {
            (vec![all.clone()], whole.left())
        } else {
            let waiting = fixed.with(LEAST_WAITING);
            let parts = (0..all.end).map(|part| part..part + 1);
            let fit = |parts: &Range<usize>| waiting.with(bytes(parts.clone())).suffices();
            let rounds = neighbours(parts, |first, last| first.start..last.end, fit);
            let most = rounds.iter().map(|round| bytes(round.clone())).max().unwrap_or(0);
            let is_whole = asks_one_by_one(config) || rounds.len() < 2;
            let least = if is_whole { whole } else { waiting.with(most) };
            let at_once = match least < whole {
                true => format!(" ({} for all its parts at once)", format_size(whole.needed())),
                false => String::new(),
            };
            let what =
                format!("classifying with {threads} threads by this database{at_once} needs");
            (rounds, least.check(what, remedy(database, on_devices, again))?)
        };
        let two_passes = on_devices || rounds.len() > 1 || config.cov_percentile > 0;
        let rounds = if on_devices { vec![all] } else { rounds };
        Ok(Plan::of(config, rounds, left, two_passes))
    }

    /// Of what is left, half is for batches that wait, if some do, and all else for long records.
    fn of(config: &RunConfig, rounds: Vec<Range<usize>>, left: u64, two_passes: bool) -> Plan {
        let waiting = if two_passes { left / 2 } else { 0 };
        let copies = COPIES + if config.kraken2.report_minimizer_data { MORE_COPIES } else { 0 };
        let record = merganser_io::longest_record(left - waiting, copies);
        Plan { rounds, record, waiting: LEAST_WAITING + waiting }
    }

    /// Whether reads can be decided on as they come.
    pub(super) fn is_one_pass(&self) -> bool {
        self.rounds.len() == 1
    }
}

/// Whether features are looked up when their reads are decided on, or after that, in any part.
fn asks_one_by_one(config: &RunConfig) -> bool {
    config.kraken2.report_minimizer_data
        || config.shows_all_hits()
        || config.kraken2.confidence > 0.0
}

/// What a run takes besides tables and long records.
fn fixed(database: &Database, config: &RunConfig, resources: &Resources) -> Budget {
    let (targets, windows) = (database.targets().len() as u64, u64::from(database.windows()));
    // A bit for each window, two counters for each target.
    let coverage = windows / 8 + 16 * targets;
    let tables = u64::from(config.references) + u64::from(config.cov_percentile > 0);
    // A bit for each slot.
    let features = if config.kraken2.report_minimizer_data { database.bytes() / 64 } else { 0 };
    Budget::of_run(resources, THREAD)
        .with(database.content_bytes())
        .with(tables * coverage)
        .with(features)
}

/// The memory to use if the user names none: a database that what is free has room for is asked as a
/// whole, as its pages are the system's and go if others need them.
fn usual(resources: &Resources, whole: u64) -> u64 {
    resources.budget().max(whole.min(resources.available()))
}

/// What helps if there is too little memory; with devices, `again` says that the host asks tables, too.
fn remedy(database: &Database, on_devices: bool, again: bool) -> &'static str {
    match database.parts() {
        _ if on_devices && again => "lower `threads`, or set `confidence` to 0",
        1 if !on_devices => "lower `threads`, or build the database with `parts`",
        _ => Shortage::FEWER_THREADS,
    }
}

#[cfg(test)]
mod tests {
    use super::usual;
    use merganser_run::Resources;

    #[test]
    fn a_database_may_take_all_that_is_free() {
        let resources = Resources::new();
        let (budget, available) = (resources.budget(), resources.available());
        for (whole, memory) in
            [(1, budget), (budget + 1, budget + 1), (available, available), (u64::MAX, available)]
        {
            assert_eq!(usual(&resources, whole), memory);
        }
    }
}
