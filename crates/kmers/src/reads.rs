//! Reads held against a table: filtered, trimmed or masked by their k-mers, or listed with the count
//! of each; and k-mers that are asked for. They stream through all threads, a batch at a time, and
//! what is made of them is written in their order.

mod batch;
mod filter;
mod long_profile;
mod marks;
mod mates;
mod pass;
mod profile;
mod queries;

use merganser_run::{Budget, Cancel, Progress, Resources};

use crate::lookup::Lookup;
pub use filter::{FilterConfig, Filtered, Limit, Mask, filter_reads};
pub use marks::{Mark, marks};
pub use mates::Mates;
pub use profile::{Profiled, profile};
pub use queries::{query, query_lines};

/// Bytes that reads under way take of `memory`, the tables apart.
pub fn reserved_bytes(memory: u64, threads: usize) -> u64 {
    beside_table(memory, threads).needed()
}

/// The same, beside what the process and the table take.
fn beside_table(memory: u64, threads: usize) -> Budget {
    let records = memory / RECORD_PART;
    Budget::of_part(memory).with_files(2).with_workers(threads, batch::WORKER_BYTES).with(records)
}

/// The part of the memory that is kept for long records whatever the table takes.
const RECORD_PART: u64 = 32;

/// Bytes of memory for records that are longer than usual, of `memory` in all: what neither the reads
/// under way nor the table take.
pub fn record_bytes(memory: u64, threads: usize, lookup: &dyn Lookup) -> u64 {
    let left = |table| beside_table(memory, threads).with(table).left();
    lookup.resident_bytes().map_or(0, left) + memory / RECORD_PART
}

/// What holds reads against a table.
#[derive(Clone, Copy)]
pub struct Job<'r> {
    /// The table.
    pub lookup: &'r dyn Lookup,
    /// Take the reads homopolymer-compressed, as those of the table were.
    pub homopolymer_compressed: bool,
    /// What it may use of the machine, the table apart.
    pub resources: &'r Resources,
    /// Bytes of memory for records that are longer than usual: [`record_bytes`] gives them.
    pub record_bytes: u64,
    /// Is told of the bytes of input.
    pub progress: &'r dyn Progress,
    /// Ends it early.
    pub cancel: &'r Cancel,
}
