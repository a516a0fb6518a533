//! Tracks along sequences: the counts of their k-mers in a table, and the regions that reads show to be wrong, collapsed
//! or duplicated.
//!
//! [`run()`] goes through the sequences once; they may be of any size. For the number of copies in the sequences
//! themselves, it counts their k-mers first. [`Files`] writes the tracks.

mod class;
mod config;
mod decimal;
mod files;
mod intervals;
mod run;
mod values;

pub use class::{Class, ClassSum, Rule};
pub use config::{TrackConfig, Wanted};
pub use files::{Files, Paths};
pub use run::{TrackOutcome, TrackTable, run};
pub use values::ValueFormat;
