//! Pre-alignment filtering: decides which pairs of a read and a reference segment are worth aligning.
//!
//! A [`Filter`] takes a [`PairBatch`] and decides each pair: it returns the number of edits, or rejects the
//! pair because it has more than the threshold allows. [`run()`] decides the pairs of whole files. The exact
//! method computes the edit distance itself; the rules of GateKeeper-GPU and SneakySnake compute estimates that
//! never reject a pair within the threshold.
//!
//! ```
//! use merganser_filter::{Config, Decision, Filter, PairBatch, Threshold};
//!
//! let filter = Filter::new(Config::new(Threshold::Edits(2)))?;
//! let mut batch = PairBatch::new();
//! batch.push(b"ACGTACGT", b"ACGAACGT")?;
//! batch.push(b"ACGTACGT", b"TTTTTTTT")?;
//! assert_eq!(filter.run(&batch), [Decision::Accepted { edits: 1 }, Decision::Rejected]);
//! # Ok::<(), merganser_filter::Error>(())
//! ```

mod band;
mod batch;
mod config;
mod cpu;
mod cuda;
mod decision;
mod error;
mod filter;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
#[cfg(test)]
mod naive_tests;
mod output;
mod run;
mod source;

pub use batch::{PackedReference, PairBatch, Sequence};
pub use config::{Align, Config, Method, NMode, Strand, Threshold};
#[doc(hidden)]
pub use cuda::measure;
pub use cuda::{GpuFilter, GpuReference};
pub use decision::{Code, Decision, REJECTED, UNDEFINED};
pub use error::Error;
pub use filter::{Filter, Scratch};
pub use output::{Format, Writer};
#[doc(hidden)]
pub use run::run_on_gpus_alone;
pub use run::{Outcome, Verified, plan_run, run, run_with};
