//! All-mapping of short reads: every place of a reference where a read lies with at most so many
//! edits, as SAM, BAM or CRAM.
//!
//! An [`Index`] of a reference's k-mers gives candidates by seeds of which at least one is free of
//! edits in every hit; candidates are rejected or accepted by their exact number of edits, many at
//! once. [`build`] makes an index, [`run()`] maps files, and [`map_reads`] reads in memory. `naive`
//! is the definition of a hit word by word, for tests alone.

mod config;
mod cpu;
mod cuda;
mod discordance;
mod effort;
mod error;
mod hits;
mod index;
mod join;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
#[cfg(test)]
mod naive_tests;
mod output;
mod pairs;
mod prefilter;
mod queries;
mod reads;
mod reference;
mod rescue;
mod room;
mod run;
mod search;
mod share;
mod source;
mod trace;

pub use config::{Config, MOST_READ, Prefilter, Select, Strand};
pub use effort::{DeviceTimes, Effort, ThreadTimes};
pub use error::Error;
pub use index::{Index, LONGEST, SHORTEST};
pub use join::JoinedShards;
pub use merganser_alignments::{Contig, Format, IndexKind, Operation, ReadGroup};
pub use merganser_filter::NMode;
pub use output::{Outputs, Placements, Reported};
pub use reads::{ReadHit, map_reads};
pub use run::{BuildOutcome, Outcome, build, run};
pub use share::share;
