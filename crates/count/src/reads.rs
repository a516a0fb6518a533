//! Reads held against a table: filtered, trimmed or masked by their k-mers, or listed with the count
//! of each; and k-mers that are asked for. They stream through all threads, a batch at a time, and
//! what is made of them is written in their order.

mod batch;
mod filter;
mod pass;
mod profile;
mod queries;

use merganser_run::{Cancel, Progress};

use crate::lookup::Lookup;
pub use filter::{Action, FilterConfig, Filtered, Limit, Mates, filter_reads};
pub use profile::{Profiled, profile};
pub use queries::{query, query_lines};

/// Bytes of memory that reads under way take, the tables apart.
pub fn reserved_bytes(threads: usize) -> u64 {
    batch::BASE_BYTES + threads as u64 * batch::WORKER_BYTES
}

/// What holds reads against a table.
#[derive(Clone, Copy)]
pub struct Resources<'r> {
    /// The table.
    pub lookup: &'r dyn Lookup,
    /// Worker threads in all.
    pub threads: usize,
    /// Is told of the bytes of input.
    pub progress: &'r dyn Progress,
    /// Ends it early.
    pub cancel: &'r Cancel,
}
