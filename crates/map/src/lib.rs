//! All-mapping of short reads: every place of a reference where a read lies with at most so many
//! edits, as SAM or BAM.
//!
//! An [`Index`] of a reference's k-mers gives candidates by seeds of which at least one is free of
//! edits in every hit; candidates are rejected or accepted by their exact number of edits, many at
//! once. [`naive`] is the definition of a hit word by word, for tests.

mod candidates;
mod config;
mod error;
mod hits;
mod index;
mod mapper;
#[doc(hidden)]
pub mod naive;
mod prefilter;
mod queries;
mod reference;
mod seeds;
mod verify;

pub use config::{Config, MOST_READ, Metric, NMode, Prefilter, Select, Strand};
pub use error::Error;
pub use index::{Building, Index, LONGEST, SHORTEST, build};
pub use mapper::{Stages, Times};
pub use reference::{Contig, Reference, load};
