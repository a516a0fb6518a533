//! Reads held against a table: filtered, trimmed or masked by their k-mers, or listed with the count
//! of each. The table is in memory; reads stream through, in their order.

mod filter;
mod index;
mod profile;
mod records;

pub use filter::{Action, FilterConfig, Filtered, Limit, Mates, filter_reads};
pub use index::{Lookup, open_lookup};
pub use profile::{Profiled, profile};
