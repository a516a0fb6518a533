//! How the memory is spent: decided before the first read.

use std::ops::Range;

use merganser_run::{Resources, Shortage, format_size, machine_memory};

use crate::config::RunConfig;
use crate::output::LineFormat;
use crate::{Database, Error};

/// The process itself.
const FIXED: u64 = 24 << 20;
/// What a thread takes: what it reads, batches that wait, features that are looked up together and
/// their lists, lines that wait for their turn.
const THREAD: u64 = 20 << 20;
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
        let parts = database.parts();
        let threads = resources.threads;
        let fixed = fixed(database, config, threads);
        let bytes =
            |parts: Range<usize>| if on_devices { 0 } else { database.resident_bytes(parts) };
        let whole = fixed + bytes(0..parts);
        let memory = resources.memory.unwrap_or_else(|| usual(whole));
        if whole <= memory {
            let two_passes = on_devices || config.coverage_per_mille > 0;
            let all = std::iter::once(0..parts).collect();
            return Ok(Plan::of(config, all, memory - whole, two_passes));
        }
        let waiting = LEAST_WAITING + fixed;
        let mut rounds: Vec<Range<usize>> = Vec::new();
        for part in 0..parts {
            match rounds.last_mut().filter(|round| waiting + bytes(round.start..part + 1) <= memory)
            {
                Some(round) => round.end = part + 1,
                None => rounds.push(part..part + 1),
            }
        }
        let most = rounds.iter().map(|round| bytes(round.clone())).max().unwrap_or(0);
        let one_by_one = asks_one_by_one(config);
        if one_by_one || waiting + most > memory || rounds.len() < 2 {
            let least = if one_by_one || rounds.len() < 2 { whole } else { waiting + most };
            return Err(too_little(database, threads, least, whole, memory));
        }
        Ok(Plan::of(config, rounds, memory - waiting - most, true))
    }

    /// Of what is left, half is for batches that wait, if some do, and all else for long records.
    fn of(config: &RunConfig, rounds: Vec<Range<usize>>, left: u64, two_passes: bool) -> Plan {
        let waiting = if two_passes { left / 2 } else { 0 };
        let copies = COPIES + if config.features { MORE_COPIES } else { 0 };
        let record = merganser_io::longest_record(left - waiting, copies);
        Plan { rounds, record, waiting: LEAST_WAITING + waiting }
    }
}

/// Whether features are looked up one by one after their reads have been decided on, in any part.
fn asks_one_by_one(config: &RunConfig) -> bool {
    let all_hits = matches!(&config.format, LineFormat::MetaCache(columns) if columns.all_hits);
    config.features || all_hits
}

/// What a run takes besides tables and long records.
fn fixed(database: &Database, config: &RunConfig, threads: usize) -> u64 {
    let (targets, windows) = (database.targets().len() as u64, u64::from(database.windows()));
    // A bit for each window, two counters for each target.
    let coverage = windows / 8 + 16 * targets;
    let tables = u64::from(config.references) + u64::from(config.coverage_per_mille > 0);
    // A bit for each slot.
    let features = if config.features { database.bytes() / 64 } else { 0 };
    FIXED + THREAD * threads as u64 + database.content_bytes() + tables * coverage + features
}

/// The memory to use if the user names none: a database that fits into the machine is asked as a
/// whole, as its pages are the system's and go if others need them.
fn usual(whole: u64) -> u64 {
    merganser_run::default_budget().max(whole.min(machine_memory()))
}

fn too_little(database: &Database, threads: usize, needed: u64, whole: u64, budget: u64) -> Error {
    let all = match needed < whole {
        true => format!(" ({} for all its parts at once)", format_size(whole)),
        false => String::new(),
    };
    let remedy = match database.parts() {
        1 => "lower `threads`, or build the database with `parts`",
        _ => Shortage::FEWER_THREADS,
    };
    let what = format!("classifying with {threads} threads by this database{all} needs");
    Shortage { what, needed, budget, remedy }.into()
}
