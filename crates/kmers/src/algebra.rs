//! The algebra of tables: nested unions, intersections, differences and cuts of tables in any format, and
//! comparisons of tables.
//!
//! Every result for a k-mer depends only on its counts in the tables, and all tables are sorted. The k-mers are
//! therefore divided into ranges by their first bits. One worker reads a range from all tables, computes it and
//! encodes the result; the ranges are written in ascending order. A range that is too large for the memory of a
//! worker is halved until it fits. The result is the same for any number of threads and any amount of memory.

mod calculation;
mod compare;
mod emitting;
mod engine;
mod expression;
mod join;
mod joined;
mod merge;
mod parse;
mod run;
mod session;
mod visit;

pub use calculation::{Calculation, CountLimits};
pub use compare::{Comparison, Pair, compare, compare_with};
pub(crate) use engine::{Engine, Place, Work};
pub use expression::{Cut, Expression, Mode, Operation};
pub use join::{concat, join};
pub use parse::{has_lower_bound, parse, parse_operand};
pub use run::{Calculated, calculate, calculate_in_memory, calculate_with};
pub(crate) use session::Session;
pub use session::{open_pieces, open_tables};
pub use visit::{Visitor, visit};
