//! Sorts records by reference position, in memory or, if they do not fit, on disk, and writes them with an index.
//!
//! Each thread holds the records that it made and writes them to disk as a sorted run when they exceed its share of
//! the memory. At the end, the keys are divided into ranges of about the same number of bytes. For each range, a
//! thread collects the records from all lists, in memory or on disk, and sorts them together. The keys are unique, so
//! the order does not depend on which thread held a record.

use crate::Fields;

mod cuts;
mod entry;
mod held;
mod index;
mod key;
mod parts;
mod seams;
mod sizes;
mod spill;
mod write;

pub use held::Held;
pub use index::{IndexKind, RecordIndex};
pub use spill::Sorting;
pub use write::{FileIndex, Form, Sorted, Written, write};
