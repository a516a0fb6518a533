//! All-mapping of short reads: every place of a reference where a read lies with at most so many
//! edits, as SAM or BAM.
//!
//! An [`Index`] of a reference's k-mers gives candidates by seeds of which at least one is free of
//! edits in every hit; candidates are rejected or accepted by their exact number of edits, many at
//! once. [`map_reads`] maps reads in memory, [`run`] files. [`naive`] is the definition of a hit word by word, for tests.

mod candidates;
mod config;
mod cuda;
mod error;
mod header;
mod hits;
mod index;
mod job;
mod mapper;
#[doc(hidden)]
pub mod naive;
mod prefilter;
mod queries;
mod reads;
mod record;
mod reference;
mod report;
mod seeds;
mod source;
mod trace;
mod verify;

pub use config::{Config, MOST_READ, Metric, Prefilter, Select, Strand};
pub use cuda::{DeviceTimes, check_devices};
pub use error::Error;
pub use header::ReadGroup;
pub use index::{Building, Index, LONGEST, SHORTEST, build};
pub use job::{Job, Outcome, Outputs, run};
pub use mapper::{Stages, Times};
pub use merganser_filter::NMode;
pub use reads::{ReadHit, map_reads};
pub use record::Format;
pub use reference::{Contig, Reference, load};
pub use report::Reported;
pub use trace::Operation;
