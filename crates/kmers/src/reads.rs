//! Compares reads with a table: filters, trims or masks them by their k-mers, or lists the count of each k-mer.
//! Also looks up single k-mers. Reads are processed by all threads in batches, and the results are written in
//! the order of the reads.

mod batch;
mod filter;
mod long_profile;
mod marks;
mod mates;
mod pass;
mod profile;
mod queries;

use merganser_run::{Budget, Context};

use crate::lookup::Lookup;
pub use filter::{
    FilterConfig, FilterOutputs, Filtered, Limit, Mask, filter_reads, filter_reads_in,
    filter_reads_with,
};
pub use marks::{Mark, Marked, marks};
pub use mates::Mates;
pub use profile::{Profiled, profile};
pub use queries::{query, query_lines};

/// Returns the part of `memory` that the batches take, without the table, in bytes.
pub fn reserved_bytes(memory: u64, threads: usize) -> u64 {
    beside_table(memory, threads).needed()
}

/// Returns the memory budget for everything except the process and the table.
fn beside_table(memory: u64, threads: usize) -> Budget {
    let records = memory / RECORD_PART;
    Budget::of_part(memory).with_files(2).with_workers(threads, batch::WORKER_BYTES).with(records)
}

/// The divisor that gives the memory for long records, which is kept whatever the table takes.
const RECORD_PART: u64 = 32;

/// Returns the part of `memory` that is available for unusually long records, in bytes: what neither the
/// batches nor the table take.
pub fn record_bytes(memory: u64, threads: usize, lookup: &dyn Lookup) -> u64 {
    let left = |table| beside_table(memory, threads).with(table).left();
    lookup.resident_bytes().map_or(0, left) + memory / RECORD_PART
}

/// The table and the context of a job.
#[derive(Clone, Copy)]
pub struct Job<'r> {
    /// The table.
    pub lookup: &'r dyn Lookup,
    /// Whether to compress homopolymers of the reads, as was done for the table.
    pub homopolymer_compressed: bool,
    /// The context; its memory is that apart from the table.
    pub context: &'r Context,
    /// The memory for unusually long records, in bytes, given by [`record_bytes`].
    pub record_bytes: u64,
}
