//! The algebra of tables: unions, intersections, differences and cuts of tables of any format,
//! nested at will, and comparisons between them.
//!
//! Everything that is computed of a k-mer depends on its counts in the tables alone, and all tables
//! are sorted: so the k-mers are divided into ranges by their first bits, each range is read from
//! all tables, computed and encoded by one worker, and the ranges are written in order. A range too
//! large for the memory that a worker has is halved until it fits. The same table comes out for any
//! number of threads and any memory.

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
pub use compare::{Comparison, Pair, compare};
pub(crate) use engine::{Place, Work};
pub use expression::{Cut, Expression, Mode, Operation};
pub use join::{concat, join};
pub use parse::{parse, parse_operand};
pub use run::{Calculated, calculate};
pub(crate) use session::Session;
pub use session::{open_pieces, open_tables};
pub use visit::{Visitor, visit};
