//! How the memory is spent: decided before the first read.

use merganser_run::{Budget, Resources, Shortage};

use super::database::Kraken2Database;
use crate::Error;

/// Memory of a thread for its batches, and with devices, whose batches are larger, and pinned.
const THREAD: u64 = 30 << 20;
const GPU_THREAD: u64 = 126 << 20;
/// What a taxon takes, and again for each thread.
const TAXON: u64 = 64;
const TAXON_THREAD: u64 = 24;
/// How often a record is there at the same time, at most: as text, its k-mers' minimizers, its line.
const COPIES: u64 = 16;
/// The same where its searches wait, of which there may be one for each base.
const WAITING_COPIES: u64 = 32;
/// The least that is worth going through a table for.
const LEAST_ROUND: u64 = 32 << 20;

/// How the memory is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The longest record.
    pub(super) record: usize,
    /// How reads are classified if the memory does not hold the table.
    pub(super) rounds: Option<RoundPlan>,
}

/// What a round may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundPlan {
    /// Bytes of reads that wait, with their searches.
    pub(super) waiting: u64,
    /// Bytes of the table that are there at the same time.
    pub(super) range: u64,
}

impl Plan {
    /// Spends the memory of `resources`. On devices, the table is theirs, but goes through the memory.
    ///
    /// # Errors
    /// If it is too little.
    pub(super) fn new(
        resources: &Resources,
        database: &Kraken2Database,
        on_gpus: bool,
    ) -> Result<Plan, Error> {
        let threads = resources.threads;
        let process = match on_gpus {
            true => Budget::of_run(resources, GPU_THREAD).with_devices(),
            false => Budget::of_run(resources, THREAD),
        };
        let taxon = TAXON + TAXON_THREAD * threads as u64;
        let fixed = process.with_files(1).with(database.taxonomy().len() as u64 * taxon);
        let whole = fixed.with(database.table_bytes());
        let what = format_args!("classifying with {threads} threads by this database needs");
        // A table that is in memory already takes nothing of what is free, but of a limit it does.
        let held = resources.memory.is_none() && database.table.is_in_memory();
        if !on_gpus && is_too_large(resources, whole.needed()) && !held {
            whole.min(fixed.with(LEAST_ROUND)).check(what, Shortage::FEWER_THREADS)?;
            return Ok(Plan::in_rounds(fixed.left()));
        }
        // Pages of a mapped file are the system's to give and take, unless somebody has set a limit.
        let needed = if resources.memory.is_some() { whole } else { fixed };
        let left = needed.check(what, Shortage::FEWER_THREADS)?;
        let record = merganser_io::longest_record(left, COPIES * (threads as u64 + 1));
        Ok(Plan { record, rounds: None })
    }

    /// Most is for reads that wait: the more of them, the fewer times the table is gone through. Ranges
    /// may be small, as a round sees each but once.
    fn in_rounds(left: u64) -> Plan {
        let record = merganser_io::longest_record(left / 8, WAITING_COPIES);
        let rounds = Some(RoundPlan { waiting: left / 4 * 3, range: left / 8 });
        Plan { record, rounds }
    }

    /// Whether the CPU would take rounds: the memory that is given, or that is free, does not hold the
    /// table.
    pub(super) fn takes_rounds(resources: &Resources, database: &Kraken2Database) -> bool {
        Plan::new(resources, database, false).is_ok_and(|plan| plan.rounds.is_some())
    }
}

/// Whether the memory that is given is less than `whole`, or what is free if none is given.
fn is_too_large(resources: &Resources, whole: u64) -> bool {
    whole > resources.memory.unwrap_or_else(|| resources.available())
}
