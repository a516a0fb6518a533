//! Records in the order of the reference: held in memory as far as it goes and else on disk, then
//! written with an index.
//!
//! Each thread holds the records that it made, and moves them to disk, sorted, when it has its share
//! of the memory. At the end the range of keys is cut into parts of about the same size. Threads take
//! them in turn: of each list, in memory or on disk, the records of the part, sorted together. As
//! every record has a key of its own, the order does not depend on who held it.

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
