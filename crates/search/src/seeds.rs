//! Seeds: words of a text next to which a segment of a pattern can be aligned, for many patterns at once.
//!
//! A pattern is divided into segments, one of which has few edits in each alignment of the pattern (`segments`). All words
//! near which a segment can be aligned with so few edits are listed in a table (`neighbours`, `table`). A scan looks every
//! word of the text up (`seeker`), tests the letters of the pattern on the other side of the word for 32 candidates at
//! once (`sides`), and computes all ends around those that pass (`windows`). So the time hardly grows with the number of
//! patterns, but with the number of edits.
//!
//! [`plan`] decides which queries are found by seeds; `finder` uses both ways. The ends are the same.

mod cost;
mod finder;
mod neighbours;
mod plan;
mod seeker;
mod segments;
mod set;
mod sides;
mod table;
mod windows;

pub(crate) use finder::Finder;
pub use plan::Way;
#[cfg(test)]
pub(crate) use plan::{FORCED, Forced};
pub(crate) use plan::{Limits, Seeds};
