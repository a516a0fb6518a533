//! The division of memory, decided before the first read.

use merganser_run::{Budget, Context, Shortage};

use super::database::Kraken2Database;
use super::tables::Tables;
use crate::Error;

/// Memory of a thread for its batches, in bytes; with devices, batches are larger and pinned.
const THREAD: u64 = 30 << 20;
const GPU_THREAD: u64 = 126 << 20;
/// Memory of a taxon in bytes, once and additionally for each thread.
const TAXON: u64 = 80;
const TAXON_THREAD: u64 = 32;
/// The maximum number of copies of a record in memory: its text, the minimizers of its k-mers, its line.
const COPIES: u64 = 16;
/// The maximum number of copies in rounds, where a search in each table may wait for each base.
const WAITING_COPIES: [u64; 2] = [16, 16];
/// The minimum memory of a round, in bytes; with less, reading the table again is not worth it.
const MIN_ROUND: u64 = 32 << 20;

/// Bytes that the system reads from a disk around a byte that is accessed.
const AROUND: u64 = 128 << 10;
/// The maximum size of a range in bytes; larger ranges are not read faster.
const MAX_RANGE: u64 = 512 << 20;

/// The division of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The maximum length of a record in bytes.
    pub(super) record: usize,
    /// How to classify in rounds, if the table does not fit in memory.
    pub(super) rounds: Option<RoundPlan>,
    /// The memory in bytes that the run needs at least.
    pub(super) needed: u64,
}

/// The division of memory within a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundPlan {
    /// The memory of waiting reads with their searches, in bytes.
    pub(super) waiting: u64,
    /// The maximum size of a range of a table in bytes; two are in memory at a time.
    pub(super) range: u64,
    /// The number of bytes that the system reads around one that is accessed.
    pub(super) around: u64,
}

impl Plan {
    /// Divides the memory of `context`. With devices, the table is only copied through memory.
    ///
    /// # Errors
    /// If there is too little memory.
    pub(super) fn new(
        context: &Context,
        database: &Kraken2Database,
        on_gpus: bool,
    ) -> Result<Plan, Error> {
        let threads = context.threads;
        let process = match on_gpus {
            true => Budget::of_run(context, GPU_THREAD).with_devices(),
            false => Budget::of_run(context, THREAD),
        };
        let fixed = Plan::fixed(context, database, process);
        let whole = fixed.with(database.table_bytes());
        let what = format_args!("classifying with {threads} threads by this database needs");
        // A table that is already in memory needs no free memory, but it counts towards a given limit.
        let held = context.memory.is_none() && database.tables.are_in_memory();
        if !on_gpus && is_too_large(context, whole.needed()) && !held {
            let ranges = 2 * database.tables.least_range();
            let least = whole.min(fixed.with(MIN_ROUND + ranges));
            least.check(what, Shortage::FEWER_THREADS)?;
            let plan = Plan::in_rounds(fixed.left(), &database.tables);
            return Ok(Plan { needed: least.needed(), ..plan });
        }
        // The system can evict the pages of a mapped file at any time, so they count only towards a given limit.
        let needed = if context.memory.is_some() { whole } else { fixed };
        let left = needed.check(what, Shortage::FEWER_THREADS)?;
        let record = merganser_io::longest_record(left, COPIES * (threads as u64 + 1));
        Ok(Plan { record, rounds: None, needed: needed.needed() })
    }

    /// Divides the memory of `context` for rounds whose searches a device performs, in ranges of at most `range` bytes.
    ///
    /// # Errors
    /// If there is too little memory.
    pub(super) fn with_ranges(
        context: &Context,
        database: &Kraken2Database,
        range: u64,
    ) -> Result<Plan, Error> {
        let fixed = Plan::fixed(context, database, Budget::of_run(context, THREAD).with_devices());
        let what = "classifying in rounds with a device needs";
        let least = fixed.with(MIN_ROUND);
        least.check(what, Shortage::FEWER_THREADS)?;
        let Plan { record, rounds, .. } = Plan::in_rounds(fixed.left(), &database.tables);
        let rounds = rounds.map(|plan| RoundPlan { range, ..plan });
        Ok(Plan { record, rounds, needed: least.needed() })
    }

    /// Adds what each run with the database needs, without its tables.
    fn fixed(context: &Context, database: &Kraken2Database, process: Budget) -> Budget {
        let taxon = TAXON + TAXON_THREAD * context.threads as u64;
        let files = database.tables.all().count() as u64;
        process.with_files(files).with(database.taxonomy().len() as u64 * taxon)
    }

    /// Gives most of the memory to waiting reads: the more of them fit, the fewer passes over the table are
    /// needed. Ranges may be small, because a round reads each only once.
    fn in_rounds(left: u64, tables: &Tables) -> Plan {
        let [once, in_each] = WAITING_COPIES;
        let copies = once + in_each * tables.all().count() as u64;
        let record = merganser_io::longest_record(left / 8, copies);
        let range = (left / 16).min(MAX_RANGE).max(tables.least_range());
        let waiting = left.saturating_sub(2 * range) / 16 * 15;
        let rounds = Some(RoundPlan { waiting, range, around: AROUND });
        Plan { record, rounds, needed: 0 }
    }

    /// Whether the CPU would classify in rounds, because the table does not fit in the given or free
    /// memory.
    pub(super) fn takes_rounds(context: &Context, database: &Kraken2Database) -> bool {
        Plan::new(context, database, false).is_ok_and(|plan| plan.rounds.is_some())
    }
}

/// Whether `whole` exceeds the given memory, or the free memory if none is given.
fn is_too_large(context: &Context, whole: u64) -> bool {
    whole > context.memory.unwrap_or_else(|| context.available())
}
