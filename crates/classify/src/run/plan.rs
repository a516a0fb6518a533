//! Plans the memory of a run before the first read.

use std::ops::Range;

use merganser_run::{Budget, Context, Shortage, format_size, neighbours};

use crate::config::RunConfig;
use crate::{Database, Error};

/// Memory of a thread: the text being read, waiting batches, features that are looked up together with their lists,
/// and lines waiting for their turn.
const THREAD: u64 = 18 << 20;
/// Memory of a taxon of the database for a thread's counts: reads and bases, by the taxa of reads and of genomes.
const TAXON: u64 = 32;
/// Additional memory of a taxon for the reads by database.
const BY_DATABASE: u64 = 64;
/// Minimum memory for batches that wait for further parts. Beyond the planned memory, batches go to temporary
/// files.
const MIN_WAITING: u64 = 8 << 20;
/// Maximum number of copies of a record in memory: as read (for a moment twice), masked, and as written.
const COPIES: u64 = 4;
/// Additional copies of a record for its features, if they are counted; for the stretches of bases that they cover, with
/// a confidence; and for the segments of long reads.
const FEATURE_COPIES: u64 = 2;
const STRETCH_COPIES: u64 = 12;
const SEGMENT_COPIES: u64 = 2;

/// The memory plan of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The parts of the database that are queried together, in rounds.
    pub(super) rounds: Vec<Range<usize>>,
    /// The length of the longest record that fits.
    pub(super) record: usize,
    /// The bytes of batches that may wait in memory.
    pub(super) waiting: u64,
    /// The memory in bytes of a run with these rounds.
    pub(super) needed: u64,
}

impl Plan {
    /// Plans the memory for a run, in which segments are classified too if `segments` is true; with devices, the database is in their memory.
    ///
    /// # Errors
    /// If the memory does not suffice for a single part of the database, or for all parts if features are looked up
    /// one by one.
    pub(super) fn new(
        database: &Database,
        (config, segments): (&RunConfig, bool),
        context: &Context,
        on_devices: bool,
    ) -> Result<Plan, Error> {
        let threads = context.threads;
        let fixed = fixed(database, config, context);
        let all = 0..database.parts();
        // With devices, the host needs tables only to confirm verdicts.
        let again = segments
            || config.kraken2.confidence > 0.0
            || config.least_fraction().is_some()
            || config.kraken2.database_report;
        // Tables that are in memory already do not reduce the free memory, but they count towards a limit.
        let held = context.memory.is_none() && database.is_in_memory();
        let here = (!on_devices || again) && !held;
        let bytes = |parts: Range<usize>| if here { database.resident_bytes(parts) } else { 0 };
        let whole = fixed.with(bytes(all.clone()));
        let memory = context.memory.unwrap_or_else(|| usual(context, whole.needed()));
        let [fixed, whole] = [fixed, whole].map(|budget| budget.within(memory));
        let (rounds, left, needed) = if whole.suffices() {
            (vec![all.clone()], whole.left(), whole.needed())
        } else {
            let waiting = fixed.with(MIN_WAITING);
            let parts = (0..all.end).map(|part| part..part + 1);
            let fit = |parts: &Range<usize>| waiting.with(bytes(parts.clone())).suffices();
            let rounds = neighbours(parts, |first, last| first.start..last.end, fit);
            let most = rounds.iter().map(|round| bytes(round.clone())).max().unwrap_or(0);
            let is_whole = segments || asks_one_by_one(config) || rounds.len() < 2;
            let least = if is_whole { whole } else { waiting.with(most) };
            let at_once = match least < whole {
                true => format!(" ({} for all its parts at once)", format_size(whole.needed())),
                false => String::new(),
            };
            let what =
                format!("classifying with {threads} threads by this database{at_once} needs");
            let left = least.check(what, remedy(database, on_devices, again))?;
            (rounds, left, least.needed())
        };
        let two_passes = on_devices || rounds.len() > 1 || config.cov_percentile > 0;
        let rounds = if on_devices { vec![all] } else { rounds };
        Ok(Plan { needed, ..Plan::of((config, segments), rounds, left, two_passes) })
    }

    /// Shares out the memory that is left: half for waiting batches, if there are any, the rest for long records.
    fn of(
        (config, segments): (&RunConfig, bool),
        rounds: Vec<Range<usize>>,
        left: u64,
        two_passes: bool,
    ) -> Plan {
        let waiting = if two_passes { left / 2 } else { 0 };
        let more = [
            (config.kraken2.report_minimizer_data, FEATURE_COPIES),
            (config.kraken2.confidence > 0.0, STRETCH_COPIES),
            (segments, SEGMENT_COPIES),
        ];
        let more = more.into_iter().filter(|(is_needed, _)| *is_needed);
        let copies = COPIES + more.map(|(_, copies)| copies).sum::<u64>();
        let record = merganser_io::longest_record(left - waiting, copies);
        Plan { rounds, record, waiting: MIN_WAITING + waiting, needed: 0 }
    }

    /// Whether reads can be decided on in the first pass.
    pub(super) fn is_one_pass(&self) -> bool {
        self.rounds.len() == 1
    }
}

/// Whether features are looked up in any part when or after their reads are decided on.
fn asks_one_by_one(config: &RunConfig) -> bool {
    config.kraken2.report_minimizer_data
        || config.shows_all_hits()
        || config.least_fraction().is_some()
        || config.kraken2.confidence > 0.0
}

/// Returns the memory that a run takes besides tables and long records.
fn fixed(database: &Database, config: &RunConfig, context: &Context) -> Budget {
    let (targets, windows) = (database.targets().len() as u64, u64::from(database.windows()));
    // A bit for each window and two counters for each target.
    let coverage = windows / 8 + 16 * targets;
    let tables = u64::from(config.references) + u64::from(config.cov_percentile > 0);
    // A bit for each slot.
    let features = if config.kraken2.report_minimizer_data { database.bytes() / 64 } else { 0 };
    // The counts of each thread, and their sum.
    let taxon = TAXON + if config.kraken2.database_report { BY_DATABASE } else { 0 };
    let counts = taxon * database.taxonomy().len() as u64 * (context.threads as u64 + 1);
    Budget::of_run(context, THREAD)
        .with(database.content_bytes())
        .with(counts)
        .with(tables * coverage)
        .with(features)
}

/// Returns the memory to use if no limit is given. If the free memory suffices for the whole database, it is
/// queried at once: its pages belong to the system's page cache and can be evicted.
fn usual(context: &Context, whole: u64) -> u64 {
    context.budget().max(whole.min(context.available()))
}

/// Returns the remedy for too little memory. `again` means that the host needs tables in addition to those on devices.
fn remedy(database: &Database, on_devices: bool, again: bool) -> &'static str {
    match database.parts() {
        _ if on_devices && again => {
            "lower `threads`, or set `confidence` and `min_fraction` to 0, without segments and `database_report`"
        }
        1 if !on_devices => "lower `threads`, or build the database with `parts`",
        _ => Shortage::FEWER_THREADS,
    }
}

#[cfg(test)]
mod tests {
    use super::usual;
    use merganser_run::Context;

    #[test]
    fn a_database_may_take_all_that_is_free() {
        let context = Context::new();
        let (budget, available) = (context.budget(), context.available());
        for (whole, memory) in
            [(1, budget), (budget + 1, budget + 1), (available, available), (u64::MAX, available)]
        {
            assert_eq!(usual(&context, whole), memory);
        }
    }
}
